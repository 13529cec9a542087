// The hypervisor's assembly (hyp/core/entry/fast_path.S), as it was assembled for the target:
// interpreted, instruction by instruction, on a simulated CPU.
#pragma once

#include "core.hpp"

namespace mmioscope {
struct Cpu;
}

namespace mmioscope::sim {

class Simulation;

/// Where the guest's traps go, and other symbols of it; throws Failure for one that is not there.
std::uint32_t hyp_symbol(const char* name);

/// Puts the code at its place in memory.
void load_hyp_code(Simulation& simulation);

/// The guest of `core` has trapped, HSR and its like say why: what Hyp does, up to its ERET.
/// `frame`: the guest's registers before and after.
void run_hyp_code(Simulation& simulation, Core& core, Cpu& cpu, Frame& frame);

} // namespace mmioscope::sim
