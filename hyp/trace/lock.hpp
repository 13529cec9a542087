// A test-and-set lock with a known owner. Not fair on purpose: under an emulator a ticket lock
// stops everyone while the next in line is preempted; here whoever runs takes it.
#pragma once

#include "port/wait.hpp"

#include <atomic>
#include <cstdint>

namespace mmioscope {

class Lock {
public:
    static constexpr std::uint32_t no_owner = ~0u;

    /// Takes the lock for CPU `cpu` within `turns` turns. Acquire on success; false otherwise.
    /// `spins` counts the turns spent waiting.
    [[nodiscard]] bool try_acquire(std::uint32_t cpu, unsigned turns, std::uint64_t& spins) {
        for (;;) {
            std::uint32_t expected = no_owner;
            if (owner_.compare_exchange_strong(expected, cpu, std::memory_order_acquire,
                                               std::memory_order_relaxed))
                return true;
            if (turns-- == 0) return false;
            ++spins;
            port::relax();
        }
    }

    /// Gives it back. Release. Only the owner may.
    void release() { owner_.store(no_owner, std::memory_order_release); }

    /// The CPU that holds it, or no_owner.
    std::uint32_t owner() const { return owner_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint32_t> owner_{no_owner};
};

} // namespace mmioscope
