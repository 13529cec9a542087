// What entry/fast_path.S finds ready, and what it leaves behind.
#pragma once

#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Machine::fast_dispatch, for its engine.
void build_fast_dispatch(Machine& machine);
/// What does not change while the guest runs. The way stays shut until open_fast_path().
void prepare_fast_path(const Machine& machine, Cpu& cpu);
/// At the end of a trap, of a guest that goes on with `frame`: the next access is probably of the
/// same mode and instruction set.
void follow_form(Cpu& cpu, const Frame& frame);
/// Behind that: the next one may go there, if nothing is on that it does not know of.
void open_fast_path(Cpu& cpu);
/// At a trap's begin: what it has done is counted, a step that it has begun is `cpu.step`.
void close_fast_path(Cpu& cpu);

/// The guest executes an instruction on its shadow table, whichever path has begun that.
bool in_step(const Cpu& cpu);

} // namespace mmioscope

// entry/fast_path.S calls these with `frame` saved where it has one, and returns to the guest.
extern "C" {
/// The bus has answered an access of Hyp's with an external abort.
void mmioscope_access_aborted(mmioscope::Cpu& cpu, mmioscope::Frame& frame);
/// Before an access: for room in the ring, and with a stream each time.
void mmioscope_look_ahead(mmioscope::Cpu& cpu);
}
