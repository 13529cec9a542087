#include "guest/reset.hpp"

#include "arch/control.hpp"
#include "arch/psr.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {
constexpr std::uint32_t timer_not_trapped = 3; ///< CNTHCTL.PL1PCTEN and PL1PCEN (B8.1.3)
constexpr std::uint32_t pmu_counters =
    0x1f; ///< HDCR.HPMN: after reset PMCR.N, so all counters are the guest's

/// If the guest may not write SMP, the hardware ignores its writes, and nothing has to trap.
bool guest_may_write_smp() {
    if ((port::read<reg::ID_PFR1>() & arch::pfr1_security) == 0) return false;
    return (port::read<reg::NSACR>() & arch::nsacr_ns_smp) != 0;
}
} // namespace

void reset_guest_state() {
    port::write<reg::VPIDR>(port::read<reg::MIDR>());
    port::write<reg::VMPIDR>(port::read<reg::MPIDR>());
    port::write<reg::HCPTR>(0); // the guest may use coprocessors and VFP
    port::write<reg::HSTR>(0);
    port::write<reg::HDCR>(port::read<reg::HDCR>() & pmu_counters);
    port::write<reg::CNTHCTL>(timer_not_trapped);
    port::write<reg::CNTVOFF>(0);
    port::write<reg::SCTLR>(arch::sctlr_reset);
    port::write<reg::TTBCR>(0);
    port::write<reg::VBAR>(0);
    port::write<reg::VTCR>(arch::vtcr);
    port::write<reg::HCR>(arch::hcr_guest);
}

std::uint32_t guest_hcr(bool wfi_traps) {
    return arch::hcr_guest | (wfi_traps ? arch::hcr_twi : 0) |
           (guest_may_write_smp() ? arch::hcr_tac : 0);
}

Frame guest_start_frame(std::uint32_t entry, std::uint32_t r0, std::uint32_t r1, std::uint32_t r2) {
    Frame frame{};
    frame.r[0] = r0;
    frame.r[1] = r1;
    frame.r[2] = r2;
    frame.pc = entry & ~1u;
    frame.psr = arch::psr_guest_reset | ((entry & 1) != 0 ? arch::psr_thumb : 0);
    return frame;
}

} // namespace mmioscope
