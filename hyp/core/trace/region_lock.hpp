// One lock per region. It covers the device access and the sequence number that orders it, so
// records have the order of the bus. It is held while the guest re-executes the instruction; the
// same CPU releases it when the step ends, however that happens.
//
// Lock order: regions by ascending index, then the chooser. An instruction takes all the locks that
// it may need before its first access: several if it reaches into another region (LDM, an unaligned
// access), and the chooser's if that may count it (trace/chooser.hpp).
#pragma once

#include "abi/ring.hpp"
#include "base/address.hpp"
#include "base/check.hpp"
#include "base/fixed_vector.hpp"
#include "trace/lock.hpp"

namespace mmioscope {

class OwnerOps;
struct Span;

inline constexpr unsigned store_blocks = 16; ///< of 8 bytes; addresses 128 bytes apart share one
/// The chooser's index among those of the regions (trace/chooser.hpp).
inline constexpr std::uint16_t choice_lock = abi::max_regions + 1;

/// Who explains the traps of a page: found by PageIndex. A region is one, and its lock is that of
/// the region. Has cache lines of its own, so no CPU waits for a line because another one uses the
/// neighbour.
struct alignas(128) Owner {
    Lock lock{Lock::slow_only}; ///< until choose_fast_regions()
    std::uint32_t reserved{};
    std::uint32_t sequence{};             ///< sequence number of the last access under the lock
    std::uint32_t device{};               ///< Record::device, flags and pa_high as one word
    std::uint32_t stores[store_blocks]{}; ///< counts stores, by address (machine/reservation.hpp)
    const Span* span{}; ///< a region's first span that may be traced; null: it is no region
    OwnerOps* ops{};    ///< what becomes of the accesses that trap

    // The caller holds the lock.
    std::uint32_t next_sequence() {
        const std::uint32_t next = upcoming_sequence();
        port::store_shared(sequence, next);
        return next;
    }
    /// What next_sequence() will return, without taking it.
    std::uint32_t upcoming_sequence() const { return port::load_shared(sequence) + 1; }
    std::uint32_t& stores_to(PhysicalAddress at) { return stores[at.value / 8 % store_blocks]; }
    void count_store(PhysicalAddress at) {
        port::store_shared(stores_to(at), port::load_shared(stores_to(at)) + 1);
    }
};
static_assert(offsetof(Owner, lock) == 0); // for entry/fast_path.S

/// Who holds a region's lock, as another CPU sees it.
struct LockHolder {
    std::uint16_t region{};
    std::uint32_t cpu{Lock::no_owner};
    std::uint32_t sequence{}; ///< Owner::sequence; changes when the holder makes an access

    bool operator==(const LockHolder&) const = default;
};

class RegionLocks {
public:
    /// Turns of waiting before the guest gets its interrupts back and tries again.
    static constexpr unsigned max_turns = 2000;

    /// The lock of `region`, or the trigger's. Regions without an index share one.
    Owner& of(std::uint16_t region) {
        return locks_[region <= choice_lock ? region : abi::max_regions];
    }
    /// The lock of a region that has an index.
    Owner& operator[](std::uint16_t region) { return locks_[region]; }

    /// Takes the locks of regions 0 to `count` - 1 in that order. True: no access to a region is in
    /// flight, and none begins before release_all(). False: one was not free in time, and none is
    /// held.
    [[nodiscard]] bool acquire_all(std::size_t count, std::uint32_t cpu, std::uint64_t& spins);
    void release_all(std::size_t count);
    /// Who holds the lock of `region`, if anybody; for a CPU that does not hold it itself.
    LockHolder holder(std::uint16_t region);
    /// Counts a store to every block of regions 0 to `count` - 1, whose locks the caller holds.
    void count_stores_everywhere(std::size_t count);

private:
    Owner locks_[choice_lock + 1];
};

/// The regions that one instruction reaches, in lock order, each once.
class RegionSet {
public:
    /// The most accesses of one instruction (VLDM).
    static constexpr std::size_t capacity = 32;

    void add(std::uint16_t region) {
        std::size_t at = 0;
        while (at < regions_.size() && regions_[at] < region) ++at;
        if (at < regions_.size() && regions_[at] == region) return;
        check(regions_.insert(at, region), "an instruction accesses too many regions");
    }
    const std::uint16_t* begin() const { return regions_.begin(); }
    const std::uint16_t* end() const { return regions_.end(); }

private:
    FixedVector<std::uint16_t, capacity> regions_;
};

/// Which region locks a CPU holds. What needs them takes this as proof.
class HeldLocks {
public:
    /// Takes the locks of `regions`, or that of `region`. False: one was not free in time, and none
    /// is held. Turns of waiting are added to `spins`.
    [[nodiscard]] bool acquire(RegionLocks& locks, const RegionSet& regions, std::uint32_t cpu,
                               std::uint64_t& spins);
    [[nodiscard]] bool acquire(RegionLocks& locks, std::uint16_t region, std::uint32_t cpu,
                               std::uint64_t& spins) {
        check(!held(), "a step began while another one held locks");
        return take(locks, region, cpu, spins, 0);
    }
    /// Takes that of `region`, too, which comes behind those in the order. False: not in time.
    [[nodiscard]] bool add(RegionLocks& locks, std::uint16_t region, std::uint32_t cpu,
                           std::uint64_t& spins) {
        return take(locks, region, cpu, spins, count_);
    }
    void release() {
        check(held(), "a lock was released twice");
        unlock_all();
    }
    /// Also takes the locks of all other regions below `count`, in any order, so the caller must
    /// not wait for them without end. True: no other CPU's access to a region is in flight, and
    /// none begins before release() or release_others(). False: one was not free in time. What it
    /// has taken stays held: call it again, or release_others().
    [[nodiscard]] bool acquire_others(RegionLocks& locks, std::size_t count, std::uint32_t cpu,
                                      std::uint64_t& spins);
    /// Gives back what acquire_others() took, if anything.
    void release_others();
    bool holds_others() const { return others_ != 0; }
    /// Notes that the lock of `region` is already held.
    void adopt(RegionLocks& locks, std::uint16_t region);
    /// The region whose lock the last acquire() did not get.
    std::uint16_t refused() const { return refused_; }

    bool held() const { return count_ != 0; }
    bool holds(std::uint16_t region) const { return find(region) != nullptr; }
    /// The lock of `region`, which must be held.
    Owner& operator[](std::uint16_t region) const {
        return held() && held_[0].region == region ? *held_[0].lock : other(region);
    }
    /// Takes the next sequence number of `region`, whose lock must be held.
    std::uint32_t next_sequence(std::uint16_t region) { return (*this)[region].next_sequence(); }

private:
    struct Held {
        Owner* lock;
        std::uint16_t region;
    };

    /// `n` are held.
    bool take(RegionLocks& locks, std::uint16_t region, std::uint32_t cpu, std::uint64_t& spins,
              std::uint32_t n) {
        Owner& taken = locks.of(region);
        if (!taken.lock.try_acquire(cpu, RegionLocks::max_turns, spins)) {
            refused_ = region;
            return false;
        }
        held_[n] = {&taken, region};
        count_ = n + 1;
        return true;
    }
    /// At least one is held.
    void unlock_all() {
        if (others_ != 0) release_others();
        std::uint32_t n = count_;
        do {
            --n;
            held_[n].lock->lock.release();
        } while (n != 0);
        count_ = 0;
    }
    Owner* find(std::uint16_t region) const;
    Owner& other(std::uint16_t region) const;

    Held held_[RegionSet::capacity + 1]{}; ///< and the chooser's
    std::uint32_t count_{};
    std::uint16_t refused_{};
    std::uint16_t others_{}; ///< all regions below, if not 0: these are held, too
    RegionLocks* all_{};     ///< if others_ is not 0
};

} // namespace mmioscope
