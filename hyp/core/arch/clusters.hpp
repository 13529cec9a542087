// How MPIDR gives a CPU its number: by its cluster, Aff1, and its place there, Aff0 (ARM ARM
// B4.1.106).
#pragma once

#include <cstdint>

namespace mmioscope::arch {

/// CPU 0's cluster and, on some boards, another one. In each, Aff0 is 0, 1, 2 ... A CPU's number is
/// Aff0 in CPU 0's cluster; those of the other cluster follow.
struct Clusters {
    std::uint8_t first_cpus; ///< CPUs in CPU 0's cluster; 0: the device tree has not been read
    std::uint8_t first;      ///< Aff1 of CPU 0's cluster
    std::uint8_t second_cpus;
    std::uint8_t
        second; ///< Aff1 of the other one; without one, the device tree's Aff1 of the first

    constexpr unsigned count() const { return first_cpus + second_cpus; }
    /// The number of the CPU with this MPIDR; count() if there is none.
    constexpr unsigned number_of(std::uint32_t mpidr) const {
        const std::uint32_t place = mpidr & 0xff;
        const std::uint32_t cluster = mpidr >> 8 & 0xffff; // Aff2 is 0
        if (cluster == first && place < first_cpus) return place;
        if (cluster == second && place < second_cpus) return first_cpus + place;
        return count();
    }
    /// The number of the CPU that the device tree, and so the guest's PSCI call, names by
    /// `affinity`; count() if there is none.
    constexpr unsigned named(std::uint32_t affinity) const {
        const bool only = second_cpus == 0 && affinity >> 8 == second;
        return number_of(only ? first << 8 | (affinity & 0xff) : affinity);
    }
    /// Aff1 and Aff0 of CPU `number`, as PSCI names it (Arm DEN 0022D, 5.1.4).
    constexpr std::uint32_t affinity_of(unsigned number) const {
        return number < first_cpus ? first << 8 | number : second << 8 | (number - first_cpus);
    }
};
static_assert(sizeof(Clusters) == 4); // entry/cpu_number.S

} // namespace mmioscope::arch
