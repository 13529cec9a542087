// What arrives a second time: a sender may repeat itself, and captures of one boot may overlap.
#pragma once

#include "abi/wire.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::wire {

/// Knows how far the records of one boot have come.
class FirstTime {
public:
    /// Removes the records that their CPU has passed: they have arrived before, or are too late for
    /// a trace, which has them in order. `late`: so are those of a CPU without any record so far.
    /// Every Record::cpu must be below abi::max_cpus.
    void keep_new(std::vector<abi::Record>& records, bool late);

    /// False if a record has arrived that `end` does not count. Otherwise the CPUs have passed all
    /// that it counts: what is missing of it is lost.
    bool pass(const abi::EndHeader& end);

private:
    struct Cpu {
        bool any = false;
        std::uint32_t next = 0; ///< cpu_sequence expected of the next record

        bool has_passed(std::uint32_t sequence) const {
            return any && static_cast<std::int32_t>(sequence - next) < 0;
        }
    };

    Cpu cpus_[abi::max_cpus];
};

} // namespace mmioscope::wire
