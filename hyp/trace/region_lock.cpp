#include "trace/region_lock.hpp"

#include "base/check.hpp"

namespace mmioscope {

namespace {
/// Turns of waiting before the guest gets its interrupts back and tries again.
constexpr unsigned max_turns = 2000;
} // namespace

void RegionSet::add(std::uint16_t region) {
    std::size_t at = 0;
    while (at < regions_.size() && regions_[at] < region) ++at;
    if (at < regions_.size() && regions_[at] == region) return;
    check(regions_.insert(at, region), "an instruction with more accesses than there are");
}

bool HeldLocks::acquire(RegionLocks& locks, const RegionSet& regions, std::uint32_t cpu,
                        std::uint64_t& spins) {
    check(!held(), "a step began while another held its locks");
    locks_ = &locks;
    regions_ = regions;
    for (const std::uint16_t& region : regions_) {
        if (locks.of(region).lock.try_acquire(cpu, max_turns, spins)) continue;
        release_until(&region);
        return false;
    }
    return true;
}

std::uint32_t HeldLocks::next_sequence(std::uint16_t region) {
    for (const std::uint16_t held : regions_) {
        if (held != region || locks_ == nullptr) continue;
        std::uint32_t& sequence = locks_->of(region).sequence;
        const std::uint32_t next = port::load_shared(sequence) + 1;
        port::store_shared(sequence, next);
        return next;
    }
    panic("a sequence number without its lock");
}

void HeldLocks::release() {
    check(held(), "a lock was released twice");
    release_until(regions_.end());
}

void HeldLocks::release_until(const std::uint16_t* end) {
    for (const std::uint16_t* region = regions_.begin(); region != end; ++region)
        locks_->of(*region).lock.release();
    locks_ = nullptr;
}

} // namespace mmioscope
