// The workload for tests of the TLB protocol: a guest with its MMU on, whose CPUs use pages that
// the others unmap, use exclusively and map again, all the time.
#pragma once

#include "rig.hpp"

namespace mmioscope::sim {

/// Writes the tables and the programs of all CPUs, each of `rounds` random moves.
void write_storm(Rig& rig, unsigned rounds, std::uint64_t seed);

/// What stopped the machine, according to the simulation or the hypervisor; empty if nothing.
std::string judge_machine(const Rig& rig);

/// What is wrong after a storm, with the name of the judge; empty if nothing.
std::string judge_storm(const Rig& rig);

} // namespace mmioscope::sim
