// Load-exclusive and store-exclusive on pages that trap (ARM ARM A3.4).
//
// Both trap. The load is re-executed like any other, so that the CPU's own monitor is set too: one
// that is asked before the address is translated (ExclusiveMonitorsPass(), A8.8.212) lets the store
// trap only then. From there to the guest Hyp uses no exclusives itself. The store is carried out
// by Hyp: a re-execution would meet a monitor that taking the lock has cleared, and fail for ever.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

/// The load-exclusive of cpu.step has been executed: sets this CPU's reservation. Its locks are
/// held, its records published and the mark "in flight" gone: one more follows if it is the same
/// again and again (machine/repeated_load.hpp).
void reserve(Cpu& cpu, const Frame& frame);

/// `access` is about to be carried out: does that end a row of load-exclusives?
void end_repetition(Cpu& cpu, const Frame& frame, const DeviceAccess& access);

/// Stores and records, or does not, by the reservation, which is gone then; the guest's status
/// register tells. `access` is a decoded store-exclusive.
Outcome store_exclusive(Cpu& cpu, Frame& frame, const DeviceAccess& access);

} // namespace mmioscope
