// Locks of pages that move between CPUs (services/moving/). Below all others in the order: who holds
// one takes no other, and gives it back before the guest goes on.
#pragma once

#include "base/address.hpp"
#include "trace/lock.hpp"

namespace mmioscope {

class PageLocks {
public:
    static constexpr unsigned max_turns = 2000;

    /// Takes that of the page, which it shares with others. Null: not free in time, or paused.
    Lock* take(PhysicalAddress page, std::uint32_t cpu, std::uint64_t& spins) {
        Lock& lock = locks_[page.value / page_size % count];
        if (!lock.try_acquire(cpu, max_turns, spins)) return nullptr;
        if (port::load_shared(paused_) == 0) return &lock;
        lock.release();
        return nullptr;
    }
    /// From now on nobody holds one, until resume(). False: one was not free in time.
    [[nodiscard]] bool pause(std::uint32_t cpu, std::uint64_t& spins) {
        port::store_shared(paused_, 1);
        port::order_memory(); // who takes one now finds it; who has taken one before is waited for
        for (Lock& lock : locks_) {
            if (!lock.try_acquire(cpu, max_turns, spins)) {
                resume();
                return false;
            }
            lock.release();
        }
        return true;
    }
    void resume() {
        port::order_memory();
        port::store_shared(paused_, 0);
    }

private:
    static constexpr unsigned count = 64;

    Lock locks_[count];
    std::uint32_t paused_{};
};

} // namespace mmioscope
