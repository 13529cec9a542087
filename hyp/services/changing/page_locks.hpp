// Locks of pages that move between CPUs (services/moving/). Below all others in the order: who
// moves a page takes one, and no other, and gives it back before the guest goes on.
#pragma once

#include "base/address.hpp"
#include "trace/region_lock.hpp"

namespace mmioscope {

class PageLocks {
public:
    /// Of the page, which it shares with others.
    Lock& of(PhysicalAddress page) { return locks_[page.value / page_size % count]; }

    /// Takes all of them: no page moves until release_all(). False: one was not free in time, and
    /// none is held.
    [[nodiscard]] bool acquire_all(std::uint32_t cpu, std::uint64_t& spins) {
        for (unsigned n = 0; n < count; ++n) {
            if (locks_[n].try_acquire(cpu, RegionLocks::max_turns, spins)) continue;
            while (n != 0) locks_[--n].release();
            return false;
        }
        return true;
    }
    void release_all() {
        for (Lock& lock : locks_) lock.release();
    }

private:
    static constexpr unsigned count = 64;

    Lock locks_[count];
};
inline constinit PageLocks page_locks;

} // namespace mmioscope
