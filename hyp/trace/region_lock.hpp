// One lock per region: it covers the device access and the sequence number that orders it, so
// the order of records is the order on the bus. Held while the guest re-executes the
// instruction; released by the same CPU at the step's end, however it ends.
//
// Lock order: by region index, ascending; behind them that of the trigger. An instruction takes all
// the locks it may need before its first access: more than one where it reaches into another region
// (LDM, an unaligned access), and the trigger's where that may count it (trace/trigger.hpp).
#pragma once

#include "abi/ring.hpp"
#include "base/address.hpp"
#include "base/fixed_vector.hpp"
#include "trace/lock.hpp"

namespace mmioscope {

struct Span;

inline constexpr unsigned store_blocks = 16; ///< of 8 bytes, over and over
/// Stands among the regions' numbers for the trigger.
inline constexpr std::uint16_t trigger_lock = abi::max_regions + 1;

/// In cache lines of its own: no CPU waits for a line since another one uses its neighbour.
struct alignas(128) RegionLock {
    static constexpr std::uint32_t not_fast = 1u << 31;

    Lock lock;
    std::uint32_t reserved{};
    std::uint32_t sequence{}; ///< of the last access carried out under it
    /// Record::device, flags and pa_high, as one word. Or not_fast: the fast path leaves its
    /// accesses alone (choose_fast_regions()).
    std::uint32_t device{not_fast};
    std::uint32_t stores[store_blocks]{}; ///< by address (machine/reservation.hpp)
    const Span* span{};                   ///< the first of the region's that may be traced

    // With the lock held.
    std::uint32_t next_sequence() {
        const std::uint32_t next = port::load_shared(sequence) + 1;
        port::store_shared(sequence, next);
        return next;
    }
    std::uint32_t& stores_to(PhysicalAddress at) { return stores[at.value / 8 % store_blocks]; }
    void count_store(PhysicalAddress at) {
        port::store_shared(stores_to(at), port::load_shared(stores_to(at)) + 1);
    }
};
// For entry/fast_path.S.
static_assert(offsetof(RegionLock, sequence) == 8 && offsetof(RegionLock, device) == 12);
static_assert(offsetof(RegionLock, lock) == 0 && offsetof(RegionLock, stores) == 16);

/// Who has a region's lock, as it looks from outside.
struct LockHolder {
    std::uint16_t region{};
    std::uint32_t cpu{Lock::no_owner};
    std::uint32_t sequence{}; ///< RegionLock::sequence: whether an access was made since

    bool operator==(const LockHolder&) const = default;
};

class RegionLocks {
public:
    /// The lock of `region`, or the trigger's; regions without a number share one.
    RegionLock& of(std::uint16_t region) {
        return locks_[region <= trigger_lock ? region : abi::max_regions];
    }
    /// The lock of a region that has a number.
    RegionLock& operator[](std::uint16_t region) { return locks_[region]; }

    /// Those of regions 0 to `count` - 1, in their order: when this returns true no access to a
    /// region is in flight, and none begins before release_all(). False, with nothing held, when
    /// one could not be had within the bound.
    [[nodiscard]] bool acquire_all(std::size_t count, std::uint32_t cpu, std::uint64_t& spins);
    void release_all(std::size_t count);
    /// To a CPU that does not have the lock of `region`: whoever has, if anybody.
    LockHolder holder(std::uint16_t region);
    /// As if there had been a store to every block of each: with their locks held.
    void count_stores_everywhere(std::size_t count);

private:
    RegionLock locks_[trigger_lock + 1];
};

/// Regions that one instruction reaches, and the trigger, in the lock order, each once.
class RegionSet {
public:
    /// The most accesses that one instruction makes (VLDM), and the trigger.
    static constexpr std::size_t capacity = 33;

    void add(std::uint16_t region);
    const std::uint16_t* begin() const { return regions_.begin(); }
    const std::uint16_t* end() const { return regions_.end(); }

private:
    FixedVector<std::uint16_t, capacity> regions_;
};

/// Proof that region locks are held. Passed to what needs them.
class HeldLocks {
public:
    /// Takes the locks of `regions`. False, with nothing held, when one could not be had within
    /// the bound. `spins` counts the turns spent waiting.
    [[nodiscard]] bool acquire(RegionLocks& locks, const RegionSet& regions, std::uint32_t cpu,
                               std::uint64_t& spins);
    void release();
    /// That of `region` is held already.
    void adopt(RegionLocks& locks, std::uint16_t region);
    /// The region whose lock the last acquire() could not have.
    std::uint16_t refused() const { return refused_; }

    bool held() const { return locks_ != nullptr; }
    /// The next sequence number of `region`, whose lock must be among those held.
    std::uint32_t next_sequence(std::uint16_t region);
    /// What next_sequence() will be, without drawing it.
    std::uint32_t upcoming_sequence(std::uint16_t region) const;
    /// How many stores there were to the block of `address` in `region`, whose lock must be held.
    std::uint32_t stores(std::uint16_t region, PhysicalAddress address) const;
    void count_store(std::uint16_t region, PhysicalAddress address);

private:
    RegionLock& held_lock(std::uint16_t region) const;
    void release_until(const std::uint16_t* end);

    RegionLocks* locks_{}; ///< null: none held
    RegionSet regions_;
    std::uint16_t refused_{};
};

} // namespace mmioscope
