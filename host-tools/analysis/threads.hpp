// Assigns accesses to threads: a thread is an interrupt on one CPU, or a stack.
#pragma once

#include "mmioscope/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

/// The number of a thread.
using Thread = std::uint32_t;

class Threads {
public:
    /// `record` reads or writes an interrupt number at the GIC's CPU interface. From the read to
    /// the write, this CPU handles that interrupt. Returns whether it begins to.
    bool follow(const abi::Record& record);

    /// The thread of the next event. The accesses with which a CPU begins and ends an interrupt are
    /// that interrupt's.
    Thread with(const Event& event);
    /// The thread that made the access. A task is the same thread on every CPU.
    Thread of(const abi::Record& record) const;
    /// Whether it is an interrupt on a CPU.
    static bool is_interrupt(Thread thread) { return (thread & interrupt) != 0; }

private:
    static constexpr Thread interrupt = Thread{1} << 31;
    /// Limit; deeper nested interrupts are forgotten.
    static constexpr std::size_t most_nested = 16;

    std::array<std::vector<std::uint16_t>, 256> interrupts_; ///< by CPU: those that it handles
};

} // namespace mmioscope::analysis
