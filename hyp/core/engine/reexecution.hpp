// A step: the guest re-executes the instruction that trapped, between two traps. This begins, ends
// and records it. The engine decides which table lets the access through, and what stops the guest.
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// First half, with the locks of cpu.step.access held. When the engine has also opened the page,
/// and made the guest stop at cpu.step.next_pc and wherever else the instruction leads, the guest
/// may resume.
void begin_step(Cpu& cpu, Frame& frame);

/// Takes the time of the access, which is done. Before its lock is released.
inline void note_done(Cpu& cpu) {
    abi::Record& record = cpu.step.record;
    record.duration = static_cast<std::uint32_t>(cpu.ring.complete() - record.time);
}

/// Second half, at any trap while a step is armed, after the page was closed. A debug event is what
/// the engine has made stop the guest. True if the step caused the trap, so the guest goes on at
/// PC; otherwise the trap must still be handled.
bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr);

// A run: the guest goes on by itself, on the normal table, up to an instruction that it reaches
// without a branch.

/// Makes the guest stop at `stop`, with its interrupts masked until then. Sets cpu.step.armed and
/// cpu.stretch.armed.
void begin_run(Cpu& cpu, Frame& frame, std::uint32_t stop);

struct RunEnd {
    bool arrived;  ///< the guest is at `stop`, and took no exception on the way
    bool own_trap; ///< as end_step() returns
};
/// At any trap while a run is armed.
RunEnd end_run(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
