// The guest's banked registers: MRS and MSR (banked register), ARM ARM B9.3.9 and B9.3.10. Hyp
// shares r0 to r12 and LR_usr with the guest; the trap frame has those.
#pragma once

#include <cstdint>

namespace mmioscope::port {

enum class Banked : unsigned {
    sp_usr,
    sp_svc,
    lr_svc,
    spsr_svc,
    sp_abt,
    lr_abt,
    spsr_abt,
    sp_und,
    lr_und,
    spsr_und,
    sp_irq,
    lr_irq,
    spsr_irq,
    r8_fiq,
    r9_fiq,
    r10_fiq,
    r11_fiq,
    r12_fiq,
    sp_fiq,
    lr_fiq,
    spsr_fiq,
};

std::uint32_t read_banked(Banked which);
void write_banked(Banked which, std::uint32_t value);

// Nearly every access needs these; one instruction each.
inline std::uint32_t read_sp_svc() {
    std::uint32_t v;
    asm volatile("mrs %0, SP_svc" : "=r"(v));
    return v;
}
inline std::uint32_t read_lr_svc() {
    std::uint32_t v;
    asm volatile("mrs %0, LR_svc" : "=r"(v));
    return v;
}

} // namespace mmioscope::port
