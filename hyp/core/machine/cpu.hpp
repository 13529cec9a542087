// The state of one CPU. No other CPU accesses it; machine.hpp has what they share.
#pragma once

#include "dev/own_bus.hpp"
#include "machine/debug_unit.hpp"
#include "machine/fast_state.hpp"
#include "machine/lock_wait.hpp"
#include "machine/own_exclusives.hpp"
#include "machine/repeated_load.hpp"
#include "machine/reservation.hpp"
#include "machine/step.hpp"
#include "machine/stretch.hpp"
#include "machine/trapped.hpp"
#include "mm/guest_view.hpp"
#include "mm/step_page.hpp"
#include "trace/region_lock.hpp"
#include "trace/ring_writer.hpp"

namespace mmioscope {

struct Machine;

struct Cpu {
    std::uint32_t number{}; ///< arch::Clusters::number_of()
    Machine* machine{};
    bool mistakes_thumb_stores{}; ///< arch/errata.hpp

    FastState fast{};
    bool always_slow{true}; ///< the fast path stays closed for the whole run

    bool has_worker{};     ///< Machine::worker is set: beside what each trap reads, it costs less
    bool work_done{};      ///< already, in this trap: before the access
    bool stopped_others{}; ///< the guest has told them to stop for good; the next work resets it

    bool leaves_coherency{}; ///< the guest cleared ACTLR.SMP; Hyp clears it while the CPU sleeps

    GuestView view;
    const View* normal{}; ///< in which its guest runs
    const View* shadow{}; ///< in which it reaches what is traced, too, for one step
    RingWriter ring;
    OwnBus bus;
    HeldLocks locks;
    LockWait lock_wait;
    Trapped trapped;
    Step step;
    DebugUnit debug;
    Reservation reservation;
    Stretch stretch;
    MonitorOrder monitor_order{};
    RepeatedLoad repeated_load;
    OwnExclusives own_exclusives;
    StepPage step_page; ///< where there are no breakpoints
};

} // namespace mmioscope
