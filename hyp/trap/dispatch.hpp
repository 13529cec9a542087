// Every way from the guest into Hyp, and the one way back.
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// At the end of a trap, where there is a stream: what comes in by its line, and some of its work.
void serve_stream(Cpu& cpu);
/// Its next turn looks for requests on the line, too.
bool line_is_due(const Cpu& cpu);

/// Stops the machine unless VTTBR holds what it should, and no shadow table is open and no lock
/// held but for a step. Behind the slow path, and before a CPU's first ERET to the guest.
void check_way_back(const Cpu& cpu);

} // namespace mmioscope

/// The guest trapped, and entry/fast_path.S has left it alone: it calls this with `frame` saved, and
/// returns to the guest with what is in `frame` afterwards.
extern "C" void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame);
