// The lines of the report (abi/doctor.hpp), and what they add up to.
#pragma once

#include "abi/doctor.hpp"
#include "dev/console.hpp"
#include "port/sysreg.hpp"

namespace mmioscope::doctor {

/// What to do about CNTFRQ. In Secure state the image sets it itself (boot/boot.cpp).
inline constexpr char set_frequency[] =
    "the boot loader must set it on each CPU, before it leaves Secure state (U-Boot: "
    "COUNTER_FREQUENCY); entered in Secure state, the tree's timer needs a clock-frequency";

class Report : private TextSink {
public:
    /// What follows goes to `console`, until the next call.
    void to(Console& console) { console_ = &console; }

    /// Begins the line of a check; `number`, if not negative, follows the name.
    void begin(const char* name, int number = -1) {
        check_ = {name, number};
        say(abi::doctor::line, name);
        if (number >= 0) say(" ", static_cast<std::uint32_t>(number));
        say(": ");
    }
    template <class... Args>
    void ok(const Args&... what) {
        say(abi::doctor::ok, what..., "\n");
    }
    template <class... Args>
    void note(const Args&... what) {
        say(abi::doctor::note, what..., "\n");
    }
    template <class... Args>
    void fail(const Args&... what) {
        if (failed_++ == 0) first_failed_ = check_;
        say(abi::doctor::failed, what..., "\n");
    }

    unsigned failed() const { return failed_; }
    /// The name of the first check that failed, for the verdict.
    void print_first_failed(TextSink& out) const {
        print(out, first_failed_.name);
        if (first_failed_.number >= 0)
            print(out, " ", static_cast<std::uint32_t>(first_failed_.number));
    }

    /// Of the text so far, and ticks of CNTPCT that sending it took.
    std::uint32_t characters() const { return characters_; }
    std::uint64_t ticks() const { return ticks_; }

private:
    struct Check {
        const char* name{""};
        int number{-1};
    };

    void put(char c) override {
        ++characters_;
        console_->put(c);
    }
    template <class... Args>
    void say(const Args&... what) {
        const std::uint64_t begin = port::read<reg::CNTPCT>();
        print(*this, what...);
        ticks_ += port::read<reg::CNTPCT>() - begin;
    }

    Console* console_{};
    Check check_;
    Check first_failed_;
    unsigned failed_{};
    std::uint32_t characters_{};
    std::uint64_t ticks_{};
};

} // namespace mmioscope::doctor
