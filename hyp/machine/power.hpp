// Which CPUs run the guest. Written by one CPU, read by another: everything here is atomic.
#pragma once

#include "board/board.hpp"

#include <atomic>

namespace mmioscope {

/// The boards' way to start CPUs: they sleep until a register holds an address.
class Power {
public:
    /// The guest is about to write `value` to a register of the board.
    void note(const BoardEvent& event, std::uint32_t value);

    /// Sleeps until the guest gives an address to start at; that address.
    std::uint32_t wait_for_start() const;

private:
    std::atomic<std::uint32_t> start_address_{0};
};

} // namespace mmioscope
