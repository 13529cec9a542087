// What is known of a register from one access to the next. docs/regs.md defines what counts.
#pragma once

#include "mmioscope/event.hpp"
#include "registers/fields_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace mmioscope::analysis {

// What the accesses to one register show.

/// Different values, exactly up to a limit.
class DistinctValues {
public:
    void add(std::uint32_t value);
    std::size_t count() const { return count_; }
    /// There may be more than count().
    bool full() const { return count_ == values_.size(); }

private:
    std::array<std::uint32_t, 16> values_{};
    std::size_t count_ = 0;
};

/// What the accesses to one register show. A value counts only if it is known, and if the CPU that
/// reads is the one that wrote or read before: other CPUs may have registers of their own there.
struct RegisterEvidence {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    DistinctValues read, written;

    // Two reads by a CPU, without a write in between.
    std::uint64_t stayed = 0;
    std::uint64_t rose = 0;
    std::uint64_t fell = 0;
    bool uncertain = false;  ///< some reads are in no pair, because what was before does not count
    std::uint32_t moved = 0; ///< bits that changed
    /// Changes just as bits that were written to another register meanwhile set or clear them.
    std::uint64_t by_others = 0;
    // Nanoseconds of the trace: the first read, the last one that differed, the last one.
    std::uint64_t first_read = 0, last_change = 0, last_read = 0;
    std::uint64_t stayed_last = 0; ///< reads since `last_change`

    // The first read after a write.
    std::uint64_t read_back = 0;
    std::uint64_t agreed = 0;          ///< that gave what was written
    std::uint32_t ones = 0, zeros = 0; ///< bits that were written as such and read as such
    std::uint32_t not_one = 0;         ///< bits that were written as one and read as zero
    std::uint32_t not_zero = 0;        ///< the reverse
    /// Writes between two reads have ones in common, to bits that were read as one before.
    std::uint64_t ones_to_ones = 0;
    std::uint64_t cleared = 0;  ///< of these: all of these bits were read as zero after
    std::uint64_t set = 0;      ///< ones written to bits that were zero, and which were one after
    std::uint64_t kept = 0;     ///< zeros written to bits that were one, and which stayed one
    std::uint64_t lost = 0;     ///< and which did not stay
    std::uint64_t repeated = 0; ///< writes of just what was read before
    std::uint64_t gone = 0;     ///< reads that lack one of the ones in common

    /// Writes directly after one to it, none to others in between; but for those that repeat what
    /// the device's last read gave.
    std::uint64_t streamed = 0;
    /// Reads after one of it; in between nothing of the device but reads of one other register.
    std::uint64_t drained = 0;
    // Ones written here to bits that another register showed before, and then did not.
    std::uint64_t others_shown = 0;
    std::uint64_t others_cleared = 0;
    // Ones written here to bits that one other register did not show before.
    std::uint64_t others_unset = 0;
    std::uint64_t others_set = 0; ///< of these: it showed them after, and the rest as before
    // Two reads by a CPU, one directly after the other: each bit that was one.
    std::array<std::uint32_t, 32> dropped{}; ///< how often it was zero then
    std::uint32_t held = 0;                  ///< bits that were one then, or any, if others rose
    std::uint32_t rested = 0;                ///< bits that were zero twice
    // Writes here after which one other register was polled, nothing else of the device in
    // between, and its second read gave the same as the first.
    std::uint64_t waited = 0;
    std::uint64_t late = 0;                       ///< of these: a later read did not
    std::uint32_t late_up = ~0u, late_down = ~0u; ///< bits that rose, or fell, each time
    std::uint64_t late_by_any = 0;                ///< likewise as the other register, by any write
    // Reads while another register was the last one that was written.
    std::uint64_t chosen_alike = 0; ///< it has the value of an earlier read, which gave the same
    /// Which gave something else, though nothing was written here; or another register was before.
    std::uint64_t chosen_differ = 0;
    std::uint64_t chosen_changed = 0; ///< it has a new value, and the read gave another one, too
};

// The part of a register's description that an access covers.

/// Bytes from the start of the access's register; 0 if it has no description.
inline unsigned within_register(const Event& event) {
    return event.reg() == nullptr ? 0 : static_cast<unsigned>(event.offset() - event.reg()->offset);
}

/// The fields in the access's value; empty if the register has no description.
inline std::string fields_of(const Event& event) {
    return event.reg() == nullptr
               ? std::string()
               : registers::fields_text(*event.reg(), event.record.value,
                                        abi::access_size(event.record), within_register(event));
}

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
