// Detects changes of what must not change once the guest runs: the image's text and constants, the
// translation tables, and the machine's description. Only requests change those, by store_sealed().
// Anything else that changes them is a fault: of a device's DMA, of the memory, or of this
// hypervisor. Each 4 KiB has a checksum; integrity/checksum.hpp says what it detects.
//
// The checks protect the trace. A machine without one is not checked when it ends: if nothing was
// ever traced and nothing of the guest recorded, damage has falsified nothing.
#pragma once

#include "base/address.hpp"
#include "base/fixed_vector.hpp"
#include "engine/service.hpp"

#include <optional>

namespace mmioscope {

/// A range that must not change, and the index of its first checksum.
struct SealedRange {
    const char* name;
    const std::uint8_t* begin;
    std::size_t size;
    bool
        emptied_by_stop; ///< the root entries that stop_other_cpus() makes invalid (trap/panic.cpp)
    std::size_t first_sum;
};

/// Part of a sealed range that has changed, at most 4 KiB.
struct Damage {
    const char* name; ///< null: no damage
    const std::uint8_t* begin;
    std::size_t size;
};

class Integrity final : public Service {
public:
    /// Seals all parts of `machine`. An error if there is no room.
    BootError start(Machine& machine, const Setup& setup) override;
    /// Stops with a report that names the range if anything has changed. docs/design.md, "When it
    /// fails", has the cost.
    ///
    /// At idle: the next 4 KiB, unless that was done within the last 10 ms (cpuidle may ask a
    /// thousand times a second). In doubt: everything, unless that was done within the last 100 ms
    /// (a guest may fetch from devices without pause). Neither if another CPU holds
    /// Machine::changes. At the machine's end: everything, if there is a trace.
    void verify(Machine& machine, Moment moment) override;
    /// Whether anything has changed. After a stop, not the root entries of the guest's tables.
    void report(Machine& machine, TextSink& out) override;

    /// After a request, with no region lock held: checks everything, unless that was done for a
    /// request within the last 100 ms, or another CPU holds Machine::changes.
    void check_behind_request(Machine& machine) { look(machine, next_for_request_, true); }

    /// Stores `value` in a sealed word or descriptor. The caller holds Machine::changes, so nobody
    /// checks meanwhile.
    void store_sealed(std::uint32_t& word, std::uint32_t value);
    void store_sealed(std::uint64_t& descriptor, std::uint64_t value);

    /// The first damage, if any. Waits for Machine::changes, but only for two seconds; then checks
    /// without it: nothing if there are differences, but another CPU is changing what is sealed.
    /// After a stop the root entries of the guest's tables are not checked.
    std::optional<Damage> find_damage(Machine& machine);

    /// Stores the checksums of the range, which consists of words. False: no room.
    [[nodiscard]] bool seal(const char* name, const void* begin, const void* end,
                            bool emptied_by_stop = false);

    /// The word at `at` is about to change. Changes the checksum by the difference, instead of
    /// computing it again, so earlier damage in the same piece stays noticeable.
    void expect_change(const void* at, std::uint32_t from, std::uint32_t to);

    /// The first damaged piece. `stopped`: all CPUs are stopped.
    Damage find_damage(bool stopped) const;

    /// Checks the next piece in turn; round() calls check all pieces once.
    Damage find_damage_in_turn();
    std::size_t round() const { return sums_.size(); }

private:
    struct Turn {
        std::size_t range, piece;
    };

    bool seal_memory(const char* name, const Range& range);
    bool seal_tables(Machine& machine);
    bool seal_machine(Machine& machine);
    bool has_trace(const Machine& machine) const;
    void look(Machine& machine, std::uint64_t& next, bool at_all);
    void begin_change();
    void end_change();
    std::optional<Damage> find_damage_unlocked(bool stopped) const;

    FixedVector<SealedRange, 4 + 2 * (2 * abi::max_cpus + 1)> ranges_; ///< each view has a root
    FixedVector<std::uint64_t, 512> sums_;
    bool traced_{}; ///< something is, at the start; what a request changes makes a record
    Turn next_{};
    std::uint32_t changes_{};          ///< odd while something sealed is changing
    std::uint64_t next_for_request_{}; ///< ticks: no check for a request before that time
    std::uint64_t next_at_idle_{};     ///< ticks: no check at idle before that time
    std::uint64_t next_in_doubt_{};    ///< ticks: no check in doubt before that time
};

} // namespace mmioscope
