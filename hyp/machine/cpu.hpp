// What one CPU keeps for itself. No other CPU touches it; what is shared is in machine.hpp.
#pragma once

#include "dev/own_bus.hpp"
#include "machine/debug_unit.hpp"
#include "machine/fast_state.hpp"
#include "machine/lock_wait.hpp"
#include "machine/own_exclusives.hpp"
#include "machine/repeated_load.hpp"
#include "machine/reservation.hpp"
#include "machine/said_tasks.hpp"
#include "machine/step.hpp"
#include "mm/guest_view.hpp"
#include "trace/region_lock.hpp"
#include "trace/ring_writer.hpp"

namespace mmioscope {

struct Machine;

struct Cpu {
    std::uint32_t number{}; ///< MPIDR.Aff0
    Machine* machine{};
    bool mistakes_thumb_stores{}; ///< arch/errata.hpp

    FastState fast{};
    bool always_slow{true}; ///< something is on that the fast path does not know of

    bool serves_stream{};              ///< there is one, which goes on at each trap
    bool stream_served{};              ///< before what this trap is for
    std::uint8_t traps_without_look{}; ///< for requests on the stream's line

    bool leaves_coherency{}; ///< the guest has cleared ACTLR.SMP: it is clear while the CPU sleeps

    GuestView view;
    RingWriter ring;
    OwnBus bus;
    HeldLocks locks;
    LockWait lock_wait;
    Step step;
    DebugUnit debug;
    Reservation reservation;
    RepeatedLoad repeated_load;
    OwnExclusives own_exclusives;
    SaidTasks said_tasks;
};

/// Publishes what has happened to this CPU, or through it; `pa` as abi::PowerEvent says.
void record_power(Cpu& cpu, abi::PowerEvent event, std::uint32_t pa);

} // namespace mmioscope
