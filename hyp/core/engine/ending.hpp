// The end of the machine: no access may be on the bus without its record when it comes.
#pragma once

namespace mmioscope {

struct Cpu;

/// The machine is about to end by this CPU. Waits until no other CPU is in the middle of an access
/// to a device that may be traced, and lets none begin until allow_accesses(). This CPU may hold
/// locks of its access already. Bounded: after two seconds it goes on although one has not ended,
/// and the in-flight mark tells whose.
void stop_accesses(Cpu& cpu);

/// The machine has not ended: other CPUs' accesses may begin again.
void allow_accesses(Cpu& cpu);

/// An access of this CPU that may end the machine was made: waits for that, if other CPUs are held
/// up meanwhile; at most a second. Then allow_accesses().
void wait_for_end(Cpu& cpu);

} // namespace mmioscope
