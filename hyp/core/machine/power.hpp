// Which CPUs run the guest. Several CPUs read and write this, so all of it is atomic, or ordered by
// an atomic.
#pragma once

#include "abi/ring.hpp"
#include "board/board.hpp"

#include <atomic>

namespace mmioscope {

/// Where a CPU enters the guest.
struct StartPoint {
    std::uint32_t entry{};   ///< bit 0: Thumb state
    std::uint32_t context{}; ///< the guest's r0
};

enum class CpuPower : std::uint32_t { off, pending, on };

class Power {
public:
    // Boards without firmware, whose CPUs sleep in the hypervisor until a register contains an
    // address:

    /// The guest is about to write `value` to a register of the board.
    void note(const BoardEvent& event, std::uint32_t value);
    /// Sleeps until the guest has written CPU `number`'s start address; returns it. `by_event`: an
    /// event (SEV) ends the sleep, otherwise only an interrupt.
    std::uint32_t wait_for_start(unsigned number, bool by_event) const;

    // Boards whose firmware starts CPUs; the guest's request is kept until its CPU arrives:

    /// Changes CPU `number` from state `from` to pending, with start point `at`. Returns the state
    /// before; if that is not `from`, nothing has changed.
    CpuPower prepare(unsigned number, CpuPower from, StartPoint at);
    /// CPU `number` did not start after all, or is about to turn off.
    void set(unsigned number, CpuPower state);
    /// Called on the CPU that firmware started: sets it to on, and returns its start point.
    StartPoint arrive(unsigned number);

private:
    std::atomic<std::uint32_t> start_address_[abi::max_cpus]{};
    std::atomic<CpuPower> state_[abi::max_cpus]{};
    StartPoint
        start_[abi::max_cpus]{}; ///< valid while pending; written before the firmware is called
};

} // namespace mmioscope
