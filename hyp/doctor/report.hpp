// The lines of the report (abi/doctor.hpp), and what they add up to.
#pragma once

#include "abi/doctor.hpp"
#include "dev/console.hpp"
#include "port/sysreg.hpp"

namespace mmioscope::doctor {

class Report : private TextSink {
public:
    /// What follows goes to `console`, until the next call.
    void to(Console& console) { console_ = &console; }

    /// Begins the line of a check; `number`, if not negative, follows the name.
    void begin(const char* name, int number = -1) {
        name_ = name;
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
        if (failed_++ == 0) first_failed_ = name_;
        say(abi::doctor::failed, what..., "\n");
    }

    unsigned failed() const { return failed_; }
    const char* first_failed() const { return first_failed_; }

    /// Of the text so far, and ticks of CNTPCT that sending it took.
    std::uint32_t characters() const { return characters_; }
    std::uint64_t ticks() const { return ticks_; }

private:
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
    const char* name_{""};
    const char* first_failed_{""};
    unsigned failed_{};
    std::uint32_t characters_{};
    std::uint64_t ticks_{};
};

} // namespace mmioscope::doctor
