// A test-and-set lock with a known owner. Not fair on purpose: under an emulator a ticket lock
// stops everyone while the next in line is preempted; here whoever runs takes it.
#pragma once

#include "port/barrier.hpp"
#include "port/shared.hpp"
#include "port/wait.hpp"

namespace mmioscope {

class Lock {
public:
    static constexpr std::uint32_t no_owner = ~0u;

    /// Takes the lock for CPU `cpu` within `turns` turns; false if that was not to be. `spins`
    /// counts the turns spent waiting.
    [[nodiscard]] bool try_acquire(std::uint32_t cpu, unsigned turns, std::uint64_t& spins) {
        while (!port::exchange_if(owner_, no_owner, cpu)) {
            if (turns-- == 0) return false;
            ++spins;
            port::relax();
        }
        port::order_memory(); // what it protects is not read before it is held
        return true;
    }

    /// Gives it back. Only the owner may.
    void release() {
        port::order_memory(); // what was done under it is seen before it is free
        port::store_shared(owner_, no_owner);
    }

    /// The CPU that holds it, or no_owner.
    std::uint32_t owner() const { return port::load_shared(owner_); }

    /// To a debugger, and to the simulated machine's judges: whether somebody holds it.
    bool held() const { return owner_ != no_owner; }

private:
    std::uint32_t owner_{no_owner};
};

} // namespace mmioscope
