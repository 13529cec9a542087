// One lock per region: it covers the device access and the sequence number that orders it, so
// the order of records is the order on the bus. Held while the guest re-executes the
// instruction; released by the same CPU at the step's end, however it ends.
//
// Lock order: by region index, ascending. At most two regions are held at once: an access that
// reaches into the next page.
#pragma once

#include "abi/ring.hpp"
#include "trace/lock.hpp"

namespace mmioscope {

struct RegionLock {
    Lock lock;
    std::uint32_t sequence{}; ///< of the last access carried out under it
};

class RegionLocks {
public:
    /// The lock of `region`; regions without a number share the last one.
    RegionLock& of(std::uint16_t region) {
        return locks_[region < abi::max_regions ? region : abi::max_regions];
    }

private:
    RegionLock locks_[abi::max_regions + 1];
};

/// Proof that one or two region locks are held. Passed to what needs them.
class HeldLocks {
public:
    HeldLocks() = default;

    /// Takes the locks of `first` and `second` (the same one twice is one) in the lock order.
    /// False, with nothing held, when one could not be had within the bound.
    [[nodiscard]] bool acquire(RegionLocks& locks, std::uint16_t first, std::uint16_t second,
                               std::uint32_t cpu, std::uint64_t& spins);
    void release();

    bool held() const { return low_ != nullptr; }
    /// The next sequence number of the region of the access.
    std::uint32_t next_sequence() { return ++sequenced_->sequence; }
    /// The CPU that kept the last acquire() from succeeding, or Lock::no_owner.
    std::uint32_t blocked_by() const { return blocked_by_; }

private:
    RegionLock* low_{};
    RegionLock* high_{};
    RegionLock* sequenced_{};
    std::uint32_t blocked_by_{Lock::no_owner};
};

} // namespace mmioscope
