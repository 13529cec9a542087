// The trials of a breakpoint and of HVC at a CPU's start (hyp/core/entry/trial.S): an instruction
// in Supervisor mode, and behind it an HVC, perhaps with a breakpoint on it.
#include "guest_cpu.hpp"

#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "machine/machine.hpp"

namespace mmioscope::sim {

TrialEnd GuestCpu::run_trial() {
    sim_.point();
    sim_.synchronize(core_); // the ERET
    const Registers& system = core_.system;
    const std::uint32_t hcr = system.get<reg::HCR>();
    if ((hcr & arch::hcr_vm) != 0 || (system.get<reg::SCTLR>() & 1) != 0)
        throw Failure{"the trial's code is not mapped"};
    if ((hcr & arch::hcr_tsc) == 0) throw Failure{"an SMC does not trap"};
    if (system.get<reg::VBAR>() != trial_vectors)
        throw Failure{"the trial may end in the guest's vectors"};
    const std::uint32_t kept_pc = core_.frame.pc;
    const std::uint32_t kept_psr = core_.frame.psr;
    core_.frame.pc = trial_stop;
    core_.frame.psr = static_cast<std::uint32_t>(arch::Mode::svc) | arch::psr_aif;
    const bool stops = hits_breakpoint();
    core_.frame.pc = kept_pc;
    core_.frame.psr = kept_psr;

    constexpr std::uint32_t hvc = 0x12u << 26 | 1u << 25, smc = 0x13u << 26 | 1u << 25;
    TrialEnd end{hvc, trial_stop + 4};
    if (sim_.conditions.hvc_undefined) end = {smc, trial_vectors + 4};
    if (stops) {
        note_debug_event(by_breakpoint);
        if ((system.get<reg::HDCR>() & arch::hdcr_tde) == 0) end = {smc, trial_vectors + 0x0c};
        else end = {0x20u << 26 | 1u << 25 | 0x22, trial_stop};
    }
    if (sim_.conditions.exceptions_clear_monitor) core_.monitor = false;
    sim_.synchronize(core_);
    return end;
}

} // namespace mmioscope::sim
