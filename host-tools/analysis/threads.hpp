// Which accesses belong together: those of one interrupt on one CPU, and those on one stack.
#pragma once

#include "abi/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

/// The number of a thread.
using Thread = std::uint32_t;

class Threads {
public:
    /// `record` reads or writes an interrupt's number at the GIC's CPU interface: from the read on
    /// this CPU works for that interrupt, until the write. Returns whether it begins to.
    bool follow(const abi::Record& record);

    /// The thread that made the access. A task is the same thread on every CPU.
    Thread of(const abi::Record& record) const;

private:
    /// More nested interrupts than this are forgotten.
    static constexpr std::size_t most_nested = 16;

    std::array<std::vector<std::uint16_t>, 256> interrupts_; ///< by CPU: those it works for
};

} // namespace mmioscope::analysis
