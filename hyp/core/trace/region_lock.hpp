// One lock per region. It covers the device access and the sequence number that orders it, so
// records have the order of the bus. It is held while the guest re-executes the instruction; the
// same CPU releases it when the step ends, however that happens.
//
// Pages that are no region's may have an owner, too, whose lock does the same for them.
//
// Lock order: by address, which is owners of pages, regions by index, the chooser. An instruction
// takes all the locks that it may need before its first access: several if it reaches what another
// one owns (LDM, an unaligned access), and the chooser's if that may count it (trace/chooser.hpp).
#pragma once

#include "abi/ring.hpp"
#include "base/address.hpp"
#include "base/check.hpp"
#include "base/fixed_vector.hpp"
#include "trace/lock.hpp"
#include "trace/region_map.hpp"

#include <algorithm>
#include <span>

namespace mmioscope {

class OwnerOps;

inline constexpr unsigned store_blocks = 16; ///< of 8 bytes; addresses 128 bytes apart share one
/// The chooser's index among those of the regions (trace/chooser.hpp).
inline constexpr std::uint16_t choice_lock = abi::max_regions;

/// Who explains the traps of a page: found by PageIndex. A region is one, and its lock is that of
/// the region. Has cache lines of its own, so no CPU waits for a line because another one uses the
/// neighbour.
struct alignas(128) Owner {
    Lock lock{Lock::slow_only}; ///< until choose_fast_regions()
    std::uint32_t reserved{};
    std::uint32_t sequence{};             ///< sequence number of the last access under the lock
    std::uint32_t device{abi::no_device}; ///< Record::device, flags and pa_high as one word
    std::uint32_t stores[store_blocks]{}; ///< counts stores, by address (machine/reservation.hpp)
    OwnerOps* ops{};                      ///< what becomes of the accesses that trap
    const Span* span{};                   ///< a region's first that may be traced, or `own`
    Span own;                             ///< of pages that are no region's

    // The caller holds the lock.
    std::uint32_t next_sequence() {
        const std::uint32_t next = upcoming_sequence();
        port::store_shared(sequence, next);
        return next;
    }
    /// There was no such access.
    void return_sequence() { port::store_shared(sequence, port::load_shared(sequence) - 1); }
    /// What next_sequence() will return, without taking it.
    std::uint32_t upcoming_sequence() const { return port::load_shared(sequence) + 1; }
    std::uint32_t& stores_to(PhysicalAddress at) { return stores[at.value / 8 % store_blocks]; }
    void count_store(PhysicalAddress at) {
        port::store_shared(stores_to(at), port::load_shared(stores_to(at)) + 1);
    }
};
static_assert(offsetof(Owner, lock) == 0); // for entry/fast_path.S
static_assert(sizeof(void*) != 4 || sizeof(Owner) == 128);

/// Who holds an owner's lock, as another CPU sees it.
struct LockHolder {
    const Owner* owner{};
    std::uint32_t cpu{Lock::no_owner};
    std::uint32_t sequence{}; ///< Owner::sequence; changes when the holder makes an access

    bool operator==(const LockHolder&) const = default;
};

class RegionLocks {
public:
    /// Turns of waiting before the guest gets its interrupts back and tries again.
    static constexpr unsigned max_turns = 2000;

    /// That of `region`, or the chooser's.
    Owner& of(std::uint16_t region) { return locks_[page_owners + region]; }
    /// An owner of pages that are no region's, whose accesses `ops` makes, in steps. `range`: its
    /// addresses, or empty, if the index alone says which pages are its own. Null: none is left.
    Owner* take_page_owner(Range range, OwnerOps& ops) {
        if (taken_ == page_owners) return nullptr;
        Owner& owner = locks_[taken_++];
        owner.own = {.range = range,
                     .mapped = Mapped::in_steps,
                     .memory = true,
                     .stepped = true,
                     .owner = &owner};
        owner.span = &owner.own;
        owner.ops = &ops;
        return &owner;
    }
    std::span<Owner> of_pages() { return {locks_, taken_}; }
    /// Counts a store to every block of those, whose locks the caller holds.
    void count_stores_everywhere(std::size_t count);

private:
    friend class HeldLocks;
    static constexpr std::size_t page_owners = 4;

    Owner locks_[page_owners + choice_lock + 1];
    unsigned taken_{};
};

/// The owners of what one instruction reaches, in lock order, each once.
class OwnerSet {
public:
    /// The most accesses of one instruction (VLDM).
    static constexpr std::size_t capacity = 32;

    void add(Owner& owner) {
        std::size_t at = 0;
        while (at < owners_.size() && owners_[at] < &owner) ++at;
        if (at < owners_.size() && owners_[at] == &owner) return;
        check(owners_.insert(at, &owner), "an instruction accesses too many regions");
    }
    Owner* const* begin() const { return owners_.begin(); }
    Owner* const* end() const { return owners_.end(); }

private:
    FixedVector<Owner*, capacity> owners_;
};

/// Which owners' locks a CPU holds. What needs them takes this as proof.
class HeldLocks {
public:
    /// Takes the locks of `owners`, or that of `owner`. False: one was not free in time, and none
    /// is held. Turns of waiting are added to `spins`.
    [[nodiscard]] bool acquire(const OwnerSet& owners, std::uint32_t cpu, std::uint64_t& spins);
    [[nodiscard]] bool acquire(Owner& owner, std::uint32_t cpu, std::uint64_t& spins) {
        check(!held(), "a step began while another one held locks");
        return take(owner, first_, cpu, spins);
    }
    /// Takes that of `owner`, too, which comes behind those in the order. False: not in time.
    [[nodiscard]] bool add(Owner& owner, std::uint32_t cpu, std::uint64_t& spins) {
        if (!take(owner, further_[count_], cpu, spins)) return false;
        ++count_;
        more_ = true;
        return true;
    }
    void release() {
        check(held(), "a lock was released twice");
        if (more_) [[unlikely]]
            release_further();
        first_->lock.release();
        first_ = nullptr;
    }
    /// Also takes all other locks of pages' owners and of regions 0 to `count` - 1, in any order if
    /// some are held, so the caller must not wait for them without end. True: no other CPU's access
    /// to them is in flight, and none begins before release() or release_others(). False: one was
    /// not free in time. What it has taken stays held: call it again, or release_others().
    [[nodiscard]] bool acquire_others(RegionLocks& locks, std::size_t count, std::uint32_t cpu,
                                      std::uint64_t& spins);
    /// Gives back what acquire_others() took, if anything.
    void release_others();
    bool holds_others() const { return others_ != 0; }
    /// Notes that the lock of `owner` is already held.
    void adopt(Owner& owner) {
        check(!held(), "a step began while another one held locks");
        first_ = &owner;
    }
    /// Of the lock that the last acquire() did not get.
    LockHolder refused() const {
        return {refused_, refused_->lock.owner(), port::load_shared(refused_->sequence)};
    }

    bool held() const { return first_ != nullptr; }
    [[gnu::noinline]] bool holds(const Owner& owner) const {
        return first_ == &owner ||
               std::find(further_, further_ + count_, &owner) != further_ + count_;
    }
    /// `owner`, whose lock must be held.
    [[gnu::always_inline]] Owner& operator[](Owner& owner) const {
        check(first_ == &owner || holds(owner), "data was used without its lock");
        return owner;
    }
    /// Takes the next sequence number of `owner`, whose lock must be held.
    [[gnu::always_inline]] std::uint32_t next_sequence(Owner& owner) {
        return (*this)[owner].next_sequence();
    }

private:
    /// `place`: where it is noted.
    bool take(Owner& taken, Owner*& place, std::uint32_t cpu, std::uint64_t& spins) {
        if (!taken.lock.try_acquire(cpu, RegionLocks::max_turns, spins)) {
            refused_ = &taken;
            return false;
        }
        place = &taken;
        return true;
    }
    void release_further();

    bool more_{};                          ///< count_ or others_ is not 0, or was
    Owner* first_{};                       ///< null: none is held
    Owner* further_[OwnerSet::capacity]{}; ///< behind it, and the chooser's
    std::uint32_t count_{};                ///< of those
    std::uint32_t others_{}; ///< all of RegionLocks below, if not 0: these are held, too
    const Owner* refused_{};
    RegionLocks* all_{}; ///< if others_ is not 0
};

} // namespace mmioscope
