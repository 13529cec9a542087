#include "trace/region_lock.hpp"

#include "base/check.hpp"

#include <utility>

namespace mmioscope {

namespace {
/// Turns of waiting before the guest gets its interrupts back and tries again.
constexpr unsigned max_turns = 2000;
} // namespace

bool HeldLocks::acquire(RegionLocks& locks, std::uint16_t first, std::uint16_t second,
                        std::uint32_t cpu, std::uint64_t& spins) {
    check(!held(), "a step began while another held its locks");
    RegionLock* low = &locks.of(first);
    RegionLock* high = &locks.of(second);
    sequenced_ = low;
    if (low == high) high = nullptr;
    else if (second < first) std::swap(low, high);

    if (!low->lock.try_acquire(cpu, max_turns, spins)) {
        blocked_by_ = low->lock.owner();
        return false;
    }
    if (high != nullptr && !high->lock.try_acquire(cpu, max_turns, spins)) {
        blocked_by_ = high->lock.owner();
        low->lock.release();
        return false;
    }
    low_ = low;
    high_ = high;
    return true;
}

void HeldLocks::release() {
    check(held(), "a lock was released twice");
    if (high_ != nullptr) high_->lock.release();
    low_->lock.release();
    low_ = high_ = nullptr;
}

} // namespace mmioscope
