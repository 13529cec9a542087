// Load-exclusive and store-exclusive on pages that trap (ARM ARM A3.4).
//
// The guest re-executes the load like any other, which also sets the CPU's own monitor: if Hyp
// cannot follow it to the store (trap/stretch.hpp), and the CPU asks its monitor before it
// translates the address (ExclusiveMonitorsPass(), A8.8.212), the store traps only then. From the
// load until the guest runs again, Hyp uses no exclusives itself. Hyp does the store: if it were
// re-executed, it would always fail, because taking the lock has cleared the monitor.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

/// The load-exclusive of cpu.trapped was executed: sets this CPU's reservation. Its locks are held,
/// its records published, and the in-flight mark is off. Publishes one more record if the same load
/// is repeated many times (machine/repeated_load.hpp).
void reserve(Cpu& cpu, const Frame& frame);

/// Before cpu.trapped.access is carried out: ends a row of load-exclusives, if the access, which is
/// no store-exclusive, does that.
void end_repetition(Cpu& cpu, const Frame& frame);

/// cpu.trapped.access is a decoded store-exclusive, whose locks are held: stores and records if the
/// reservation allows it, and ends the reservation. The guest's status register gets the result.
/// Releases the locks.
Outcome store_exclusive(Cpu& cpu, Frame& frame);

/// The guest goes on by itself, in its normal view, to `stop`: cpu.stretch is armed.
void begin_run(Cpu& cpu, Frame& frame, std::uint32_t stop);

/// The guest has executed, or tried to execute, a store-exclusive with an open monitor, after
/// store_exclusive() had asked for it.
void note_order(Cpu& cpu, bool executed, arch::Hsr hsr);

} // namespace mmioscope
