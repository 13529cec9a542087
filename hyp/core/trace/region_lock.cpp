#include "trace/region_lock.hpp"

namespace mmioscope {

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
    const Owner& lock = of(region);
    return {region, lock.lock.owner(), port::load_shared(lock.sequence)};
}

bool HeldLocks::acquire(RegionLocks& locks, const RegionSet& regions, std::uint32_t cpu,
                        std::uint64_t& spins) {
    check(!held(), "a step began while another one held locks");
    for (const std::uint16_t region : regions) {
        if (take(locks, region, cpu, spins, count_)) continue;
        if (held()) unlock_all();
        return false;
    }
    return true;
}

bool HeldLocks::acquire_others(RegionLocks& locks, std::size_t count, std::uint32_t cpu,
                               std::uint64_t& spins) {
    all_ = &locks;
    for (; others_ < count; ++others_) {
        if (holds(others_)) continue;
        Owner& region = locks[others_];
        if (!region.lock.try_acquire(cpu, RegionLocks::max_turns, spins)) return false;
    }
    return true;
}

void HeldLocks::release_others() {
    while (others_ != 0) {
        Owner& region = (*all_)[--others_];
        if (!holds(others_)) region.lock.release();
    }
}

void HeldLocks::adopt(RegionLocks& locks, std::uint16_t region) {
    check(!held(), "a step began while another one held locks");
    held_[count_++] = {&locks.of(region), region};
}

Owner* HeldLocks::find(std::uint16_t region) const {
    for (std::uint32_t n = 0; n < count_; ++n)
        if (held_[n].region == region) return held_[n].lock;
    return nullptr;
}

Owner& HeldLocks::other(std::uint16_t region) const {
    Owner* const lock = find(region);
    check(lock != nullptr, "data was used without its lock");
    return *lock;
}

} // namespace mmioscope
