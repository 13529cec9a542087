#include "trap/control_register.hpp"

#include "arch/control.hpp"
#include "arch/psr.hpp"
#include "base/check.hpp"
#include "guest/coherency.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/sysreg.hpp"
#include "trap/condition.hpp"

namespace mmioscope {

namespace {

/// The hardware's SMP bit stays set: memory is shared with other CPUs until the guest sleeps.
void write_actlr(Cpu& cpu, std::uint32_t value) {
    cpu.leaves_coherency = (value & arch::actlr_smp) == 0;
    port::write<reg::ACTLR>(value | arch::actlr_smp);
    port::write<reg::HCR>(guest_hcr(cpu.gives_turns || cpu.leaves_coherency));
}

std::uint32_t read_actlr(const Cpu& cpu) {
    const std::uint32_t value = port::read<reg::ACTLR>();
    return cpu.leaves_coherency ? value & ~arch::actlr_smp : value;
}

} // namespace

Outcome control_register(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    if (!hsr.of<reg::ACTLR>()) {
        check(cpu.debug.hstr() != 0, "unexpected trap of a CP15 access");
        cpu.debug.leave_vbar();
        return Outcome::again;
    }
    if (!passes_condition(frame, hsr)) return Outcome::done;
    if (hsr.reads_register()) set_guest_register(frame, hsr.rt(), read_actlr(cpu));
    else write_actlr(cpu, guest_register(frame, hsr.rt()));
    return Outcome::done;
}

} // namespace mmioscope
