// What is known of a register from one access to the next. docs/regs.md defines what counts.
#pragma once

#include "analysis/register_evidence.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace mmioscope::analysis {

/// When an access is made.
struct When {
    std::uint64_t access = 0; ///< its number; from 1
    std::uint64_t nanoseconds = 0;
    std::uint64_t since = 0; ///< no access up to this number counts
};

class RegisterHistory {
public:
    static constexpr unsigned most_cpus = 8; ///< of others, accesses are only counted

    std::string device, name;
    std::uint64_t offset = 0;
    RegisterEvidence evidence;
    const RegisterHistory* chooser = nullptr; ///< the register that was written last
    /// The first register of which a write here cleared, set, or later changed bits.
    const RegisterHistory *clears = nullptr, *sets = nullptr, *changes = nullptr;
    const RegisterHistory* cleared_by = nullptr; ///< the reverse of `clears`

    void write(unsigned cpu, std::uint32_t value, const When& now);
    /// `writer`: the register of the device's last write, or null. `next`: the device's access
    /// before was a read of this register.
    void read(unsigned cpu, std::uint32_t value, const When& now, RegisterHistory* writer,
              bool next);
    /// Another register was written: if it got the same, what changes may be its effect.
    void contest(std::uint32_t value) { acknowledged_ = wrote_ == value ? 0 : acknowledged_; }
    /// Whether the CPU read this value last.
    bool showed(unsigned cpu, std::uint32_t value) const {
        return cpu < most_cpus && views_[cpu].time != 0 && views_[cpu].value == value;
    }
    /// An access whose value does not count.
    void forget();

private:
    static constexpr std::size_t most_chosen = 16;

    /// What a CPU knows of the register.
    struct View {
        std::uint64_t time = 0; ///< of the last read; 0: none that counts
        std::uint32_t value = 0;
    };

    void learn_pair(const View& view, bool known, std::uint32_t value, const When& now);
    void learn_next(std::uint32_t before, std::uint32_t value);
    void learn_effect(std::uint32_t before, std::uint32_t value, RegisterHistory& writer);
    void learn_answer(std::uint32_t value, RegisterHistory& writer, bool next);
    void learn_chosen(std::uint32_t value, const When& now, const RegisterHistory& writer);
    void learn_back(std::uint32_t value);

    std::array<View, most_cpus> views_;
    // The last write; `write_time_` 0: none that counts.
    std::uint64_t write_time_ = 0;
    std::uint32_t wrote_ = 0;
    unsigned writer_ = 0;
    bool fresh_ = false; ///< no read since
    bool seen_before_ = false;
    std::uint32_t before_ = 0; ///< what its CPU had read before it, if `seen_before_`
    /// Ones that were read last, and that all writes since have.
    std::uint32_t acknowledged_ = 0;
    /// What it gave after each value of the register that was written last, the first 16.
    std::map<std::uint32_t, View> chosen_;
    /// Likewise after each of these together with what was written here last.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> chosen_twice_;
    std::uint32_t chosen_by_ = 0; ///< the value of `chooser` at the last such read
    unsigned reader_ = most_cpus; ///< the CPU of the last read
    // What was read since the last write to the device, which was at `answer_time_`.
    std::uint64_t answer_time_ = 0;
    std::uint32_t answer_ = 0;
    bool answer_stayed_ = false, answer_changed_ = false;
};

} // namespace mmioscope::analysis
