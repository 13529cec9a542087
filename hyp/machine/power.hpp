// Which CPUs run the guest. Written by one CPU, read by another: everything here is atomic.
#pragma once

#include "abi/ring.hpp"
#include "board/board.hpp"

#include <atomic>

namespace mmioscope {

/// Where a CPU enters the guest.
struct StartPoint {
    std::uint32_t entry{};   ///< bit 0: in Thumb state
    std::uint32_t context{}; ///< the guest finds it in r0
};

enum class CpuPower : std::uint32_t { off, pending, on };

class Power {
public:
    // Boards whose CPUs all enter the hypervisor and sleep until a register holds an address.

    /// The guest is about to write `value` to a register of the board.
    void note(const BoardEvent& event, std::uint32_t value);
    /// Sleeps until the guest gives an address to start at; that address.
    std::uint32_t wait_for_start() const;

    // Boards whose firmware starts CPUs: what the guest asked for, kept until its CPU arrives.

    /// Turns CPU `number` from `from` to pending, with `at` for it. Returns what it was: only if
    /// that is `from` has anything changed.
    CpuPower prepare(unsigned number, CpuPower from, StartPoint at);
    /// CPU `number` did not start after all, or is on its way out.
    void set(unsigned number, CpuPower state);
    /// On the CPU that firmware has started: it is on, and goes here.
    StartPoint arrive(unsigned number);

private:
    std::atomic<std::uint32_t> start_address_{0};
    std::atomic<CpuPower> state_[abi::max_cpus]{};
    StartPoint start_[abi::max_cpus]{}; ///< valid while pending, and written before the start
};

} // namespace mmioscope
