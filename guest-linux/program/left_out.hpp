// Records that are not written, and counted. Those that are written are numbered as if the others
// had never been, so that a hole in the numbers still tells of a loss.
#pragma once

#include "abi/ring.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::guest {

class LeftOut {
public:
    /// Of `regions`; none of them: nothing is left out.
    explicit LeftOut(std::vector<std::uint16_t> regions) : regions_(std::move(regions)) {}

    /// Takes them out of `records`, and numbers the others.
    void apply(std::vector<abi::Record>& records);

    /// What the number `sequence` of `cpu` is, behind the last record of it.
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
