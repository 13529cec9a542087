// The workload of the TLB protocol's tests: a guest with its MMU on, whose CPUs use pages that the
// others unmap, take for themselves and map again, all the time.
#pragma once

#include "rig.hpp"

namespace mmioscope::sim {

/// Writes the tables and the programs of all CPUs, each of `rounds` random moves.
void write_storm(Rig& rig, unsigned rounds, std::uint64_t seed);

/// What stopped the machine, in the simulation's eyes or the hypervisor's own; empty if nothing.
std::string judge_machine(const Rig& rig);

/// What is wrong with a storm that has ended, by name of the judge; empty if nothing.
std::string judge_storm(const Rig& rig);

} // namespace mmioscope::sim
