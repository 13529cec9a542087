#include "trace/region_lock.hpp"

namespace mmioscope {

void RegionLocks::count_stores_everywhere(std::size_t count) {
    for (std::size_t n = 0; n < page_owners + count; ++n)
        for (std::uint32_t& stores : locks_[n].stores)
            port::store_shared(stores, port::load_shared(stores) + 1);
}

bool HeldLocks::acquire(const OwnerSet& owners, std::uint32_t cpu, std::uint64_t& spins) {
    check(!held(), "a step began while another one held locks");
    for (Owner* const owner : owners) {
        if (held() ? add(*owner, cpu, spins) : take(*owner, first_, cpu, spins)) continue;
        if (held()) release();
        return false;
    }
    return true;
}

bool HeldLocks::acquire_others(RegionLocks& locks, std::size_t count, std::uint32_t cpu,
                               std::uint64_t& spins) {
    all_ = &locks;
    more_ = true;
    for (; others_ < RegionLocks::page_owners + count; ++others_) {
        Owner& owner = locks.locks_[others_];
        if (!holds(owner) && !owner.lock.try_acquire(cpu, RegionLocks::max_turns, spins))
            return false;
    }
    return true;
}

void HeldLocks::release_further() {
    release_others();
    while (count_ != 0) further_[--count_]->lock.release();
    more_ = false;
}

void HeldLocks::release_others() {
    while (others_ != 0) {
        Owner& owner = all_->locks_[--others_];
        if (!holds(owner)) owner.lock.release();
    }
}

} // namespace mmioscope
