#include "trace/region_lock.hpp"

namespace mmioscope {

namespace {
/// Turns of waiting before the guest gets its interrupts back and tries again.
constexpr unsigned max_turns = 2000;
} // namespace

bool RegionLocks::acquire_all(std::size_t count, std::uint32_t cpu, std::uint64_t& spins) {
    for (std::size_t n = 0; n < count; ++n) {
        if (locks_[n].lock.try_acquire(cpu, max_turns, spins)) continue;
        release_all(n);
        return false;
    }
    return true;
}

void RegionLocks::release_all(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) locks_[n].lock.release();
}

void RegionLocks::count_stores_everywhere(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n)
        for (std::uint32_t& stores : locks_[n].stores)
            port::store_shared(stores, port::load_shared(stores) + 1);
}

LockHolder RegionLocks::holder(std::uint16_t region) {
    const RegionLock& lock = of(region);
    return {region, lock.lock.owner(), port::load_shared(lock.sequence)};
}

bool HeldLocks::acquire(RegionLocks& locks, const RegionSet& regions, std::uint32_t cpu,
                        std::uint64_t& spins) {
    check(!held(), "a step began while another one held locks");
    locks_ = &locks;
    regions_ = regions;
    for (const std::uint16_t& region : regions_) {
        if (locks.of(region).lock.try_acquire(cpu, max_turns, spins)) continue;
        release_until(&region);
        refused_ = region;
        return false;
    }
    return true;
}

void HeldLocks::adopt(RegionLocks& locks, std::uint16_t region) {
    check(!held(), "a step began while another one held locks");
    locks_ = &locks;
    regions_ = {};
    regions_.add(region);
}

RegionLock& HeldLocks::held_lock(std::uint16_t region) const {
    for (const std::uint16_t held : regions_)
        if (held == region && locks_ != nullptr) return locks_->of(region);
    panic("data was used without its lock");
}

std::uint32_t HeldLocks::upcoming_sequence(std::uint16_t region) const {
    return port::load_shared(held_lock(region).sequence) + 1;
}

std::uint32_t HeldLocks::next_sequence(std::uint16_t region) {
    return held_lock(region).next_sequence();
}

std::uint32_t HeldLocks::stores(std::uint16_t region, PhysicalAddress address) const {
    return port::load_shared(held_lock(region).stores_to(address));
}

void HeldLocks::count_store(std::uint16_t region, PhysicalAddress address) {
    held_lock(region).count_store(address);
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
