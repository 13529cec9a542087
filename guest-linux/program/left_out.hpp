// Leaves records out, and counts them. Renumbers the other records, so that a gap in the numbers
// still means a loss.
#pragma once

#include "abi/ring.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::guest {

class LeftOut {
public:
    /// Leaves out the records of `regions`; if there are none, nothing.
    explicit LeftOut(std::vector<std::uint16_t> regions) : regions_(std::move(regions)) {}

    /// Removes them from `records`, and renumbers the others.
    void apply(std::vector<abi::Record>& records);

    /// The new number for `sequence`, the number after the last record of `cpu`.
    std::uint32_t renumbered(unsigned cpu, std::uint32_t sequence) const {
        return sequence - of_cpu_[cpu];
    }

    std::uint64_t count() const { return count_; }

private:
    std::vector<std::uint16_t> regions_;
    std::uint32_t of_cpu_[abi::max_cpus] = {};
    std::uint64_t count_ = 0;
};

} // namespace mmioscope::guest
