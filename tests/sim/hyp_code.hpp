// Interprets the hypervisor's assembly (hyp/core/entry/fast_path.S), as assembled for the target,
// instruction by instruction on a simulated CPU.
#pragma once

#include "core.hpp"

namespace mmioscope {
struct Cpu;
}

namespace mmioscope::sim {

class Simulation;

/// The address of a symbol, such as the entry for the guest's traps. Throws Failure if it does not
/// exist.
std::uint32_t hyp_symbol(const char* name);

/// Puts the code at its place in memory.
void load_hyp_code(Simulation& simulation);

/// Runs Hyp up to its ERET, after the guest of `core` has trapped for the reason in HSR and related
/// registers. `frame`: the guest's registers before and after.
void run_hyp_code(Simulation& simulation, Core& core, Cpu& cpu, Frame& frame);

} // namespace mmioscope::sim
