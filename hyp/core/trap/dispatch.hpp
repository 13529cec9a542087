// The slow path's entry from the guest into Hyp, and its way back.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

/// Called once in a trap if Machine::worker is set: its work(), unless this is not the time.
void do_work(Cpu& cpu);

/// Stops the machine unless VTTBR has its proper value, and a shadow table is open and locks are
/// held only for a step. Called after the slow path, and before a CPU's first ERET to the guest.
void check_way_back(const Cpu& cpu);

/// Handles a stage-2 data abort: carries the access out, or records why not and gives the guest an
/// abort.
Outcome data_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr);
/// Handles a stage-2 prefetch abort: records it and gives the guest a prefetch abort.
Outcome prefetch_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr);

/// The guest's calls of PSCI get the firmware's answer; CPUs start and stop through the hypervisor.
class Psci final : public CallOps {
public:
    Outcome call(Cpu& cpu, Frame& frame) override;
};
extern Psci firmware_calls; ///< has no state

/// Leaves a call to whom Machine::calls says. Any other one is an undefined instruction, as without
/// Hyp and Monitor.
Outcome guest_call(Cpu& cpu, Frame& frame, arch::Hsr hsr);

/// Publishes a `power` record of this CPU; `pa` as in abi::PowerEvent.
void record_power(Cpu& cpu, abi::PowerEvent event, std::uint32_t pa);

} // namespace mmioscope

/// entry/fast_path.S calls this for a trap that it does not handle, with `frame` saved, and returns
/// to the guest with the contents of `frame`.
extern "C" void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame);
