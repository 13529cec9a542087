// What must not change once the guest runs: the image's text and constants, the translation tables
// and the machine's description; but for what a command changes, by store_sealed(). Nothing but a
// device's DMA, a fault of the memory or of this hypervisor can change it; a checksum of each 4 KiB
// tells, whenever somebody looks (base/checksum.hpp has what it tells).
#pragma once

#include "base/address.hpp"
#include "base/fixed_vector.hpp"

namespace mmioscope {

struct Machine;

/// Bytes that must not change, and where their checksums begin.
struct SealedRange {
    const char* name;
    const std::uint8_t* begin;
    std::size_t size;
    bool emptied_by_stop; ///< the entries that stop_other_cpus() makes invalid (trap/panic.cpp)
    std::size_t first_sum;
};

/// At most 4 KiB of a sealed range.
struct Damage {
    const char* name; ///< null: none
    const std::uint8_t* begin;
    std::size_t size;
};

class Integrity {
public:
    /// Notes what the range holds, words all of it. False: no room.
    [[nodiscard]] bool seal(const char* name, const void* begin, const void* end,
                            bool emptied_by_stop = false);

    /// The word at `at` is about to change. The checksum is not taken anew but changed as much, so
    /// what else is wrong stays so.
    void expect_change(const void* at, std::uint32_t from, std::uint32_t to);

    /// The first piece that is not what it was. `stopped`: all CPUs are.
    Damage find_damage(bool stopped) const;

    /// The next piece in turn, if it is not what it was; round() calls look at all of them.
    Damage find_damage_in_turn();
    std::size_t round() const { return sums_.size(); }

    std::uint64_t next_for_request{}; ///< ticks: not before, however many requests there are
    std::uint64_t next_at_start{};    ///< likewise, however many CPUs are started
    std::uint64_t next_at_idle{};     ///< likewise, however often CPUs sleep

private:
    struct Turn {
        std::size_t range, piece;
    };

    static constexpr std::size_t roots = 9; ///< of the guest's tables: one for all, one per CPU
    FixedVector<SealedRange, 4 + 2 * roots> ranges_;
    FixedVector<std::uint64_t, 512> sums_;
    Turn next_{};
};

/// Stores `value` in a word that is sealed, or in a sealed descriptor. With Machine::changes held:
/// nobody looks meanwhile.
void store_sealed(Machine& machine, std::uint32_t& word, std::uint32_t value);
void store_sealed(Machine& machine, std::uint64_t& descriptor, std::uint64_t value);

/// Notes what `machine` is made of; once, when nothing of it changes any more. False: no room.
[[nodiscard]] bool seal_machine(Machine& machine);

/// The first damage, if any. Waits for who changes what is traced, or looks himself, but not for
/// ever: after two seconds without Machine::changes it looks all the same. After a stop the root
/// entries of the guest's tables do not count.
Damage find_damage(Machine& machine);

// Each stops with a report that names the range if anything has changed; docs/design.md, "When it
// fails", has the cost. None belongs where the guest accesses devices.

/// Reads all of it: where the machine ends.
void check_integrity(Machine& machine);
/// Where the guest starts a CPU: all of it, but if that was done for a start less than 100 ms ago,
/// nothing.
void check_integrity_at_start(Machine& machine);
/// Behind a request: all of it, but if that was done for a request less than 100 ms ago, or another
/// CPU is at it or at a change, nothing. With no region lock held.
void check_integrity_behind_request(Machine& machine);
/// Where a CPU is about to sleep, by WFI or by firmware: the next 4 KiB, but if that was done less
/// than 10 ms ago, or another CPU is at it or at a change, nothing.
void check_integrity_at_idle(Machine& machine);

} // namespace mmioscope
