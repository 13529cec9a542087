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
    /// The word of a lock that is free, and that the fast path (entry/fast_path.S) may not take.
    /// Else that is 0. A CPU that holds it adds its number plus one.
    static constexpr std::uint32_t slow_only = 1u << 31;

    /// A lock that is free. `word`: 0 or slow_only.
    constexpr explicit Lock(std::uint32_t word = 0) : word_(word) {}

    /// Takes the lock for CPU `cpu`. False if it was not free within `turns` turns of waiting,
    /// which are added to `spins`.
    [[nodiscard]] bool try_acquire(std::uint32_t cpu, unsigned turns, std::uint64_t& spins) {
        while (!take(cpu)) {
            if (turns-- == 0) return false;
            ++spins;
            port::relax();
        }
        port::order_memory(); // what the lock protects is not read before it is held
        return true;
    }

    /// Releases the lock. Only the owner may call it.
    void release() {
        const std::uint32_t word = free();
        port::order_memory(); // everything done under the lock is visible before it is free
        port::store_shared(word_, word);
    }

    /// From now on the fast path may take it, or not. Only the owner may call it.
    void allow_fast_path(bool allowed) {
        const std::uint32_t owner = port::load_shared(word_) & ~slow_only;
        port::store_shared(word_, owner | (allowed ? 0 : slow_only));
    }

    /// The CPU that holds it, or no_owner.
    std::uint32_t owner() const { return (port::load_shared(word_) & ~slow_only) - 1; }

    /// Whether somebody holds it; only for debuggers and the checks of the simulated machine.
    bool held() const { return (word_ & ~slow_only) != 0; }

private:
    /// Its word while nobody holds it. Only its owner changes that.
    std::uint32_t free() const { return port::load_shared(word_) & slow_only; }
    bool take(std::uint32_t cpu) {
        const std::uint32_t expected = free();
        return port::exchange_if(word_, expected, expected + cpu + 1);
    }

    std::uint32_t word_;
};

} // namespace mmioscope
