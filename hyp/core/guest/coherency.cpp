#include "guest/coherency.hpp"

#include "arch/control.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

/// If the guest may not write SMP, the hardware ignores its writes, and nothing has to trap.
bool guest_may_write_smp() {
    if ((port::read<reg::ID_PFR1>() & arch::pfr1_security) == 0) return false;
    return (port::read<reg::NSACR>() & arch::nsacr_ns_smp) != 0;
}

} // namespace

std::uint32_t guest_hcr(bool wfi_traps) {
    return arch::hcr_guest | (wfi_traps ? arch::hcr_twi : 0) |
           (guest_may_write_smp() ? arch::hcr_tac : 0);
}

} // namespace mmioscope
