// A test-and-set lock that records its owner. It is not fair on purpose: under an emulator, a
// ticket lock would stop everyone while the next in line is preempted. Here any CPU that runs can
// take it.
#pragma once

#include "port/barrier.hpp"
#include "port/shared.hpp"
#include "port/wait.hpp"

namespace mmioscope {

class Lock {
public:
    static constexpr std::uint32_t no_owner = ~0u;

    /// Takes the lock for CPU `cpu`. False if it was not free within `turns` turns of waiting,
    /// which are added to `spins`.
    [[nodiscard]] bool try_acquire(std::uint32_t cpu, unsigned turns, std::uint64_t& spins) {
        while (!port::exchange_if(owner_, no_owner, cpu)) {
            if (turns-- == 0) return false;
            ++spins;
            port::relax();
        }
        port::order_memory(); // what the lock protects is not read before it is held
        return true;
    }

    /// Releases the lock. Only the owner may call it.
    void release() {
        port::order_memory(); // everything done under the lock is visible before it is free
        port::store_shared(owner_, no_owner);
    }

    /// The CPU that holds it, or no_owner.
    std::uint32_t owner() const { return port::load_shared(owner_); }

    /// Whether somebody holds it; only for debuggers and the checks of the simulated machine.
    bool held() const { return owner_ != no_owner; }

private:
    std::uint32_t owner_{no_owner};
};

} // namespace mmioscope
