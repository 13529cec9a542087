#include "port/banked.hpp"

namespace mmioscope::port {

namespace {
// The register is part of the instruction's encoding, so each one needs its own instruction.
// clang-format off
#define MMIOSCOPE_BANKED_REGISTERS(X)                                                             \
    X(sp_usr, "SP_usr") X(sp_svc, "SP_svc") X(lr_svc, "LR_svc")                                   \
    X(spsr_svc, "SPSR_svc") X(sp_abt, "SP_abt") X(lr_abt, "LR_abt")                               \
    X(spsr_abt, "SPSR_abt") X(sp_und, "SP_und") X(lr_und, "LR_und")                               \
    X(spsr_und, "SPSR_und") X(sp_irq, "SP_irq") X(lr_irq, "LR_irq")                               \
    X(spsr_irq, "SPSR_irq") X(r8_fiq, "R8_fiq") X(r9_fiq, "R9_fiq")                               \
    X(r10_fiq, "R10_fiq") X(r11_fiq, "R11_fiq") X(r12_fiq, "R12_fiq")                             \
    X(sp_fiq, "SP_fiq") X(lr_fiq, "LR_fiq") X(spsr_fiq, "SPSR_fiq")
// clang-format on
} // namespace

std::uint32_t read_banked(Banked which) {
    std::uint32_t v = 0;
    switch (which) {
#define READ(name, text)                                                                           \
    case Banked::name: asm volatile("mrs %0, " text : "=r"(v)); break;
        MMIOSCOPE_BANKED_REGISTERS(READ)
#undef READ
    }
    return v;
}

void write_banked(Banked which, std::uint32_t value) {
    switch (which) {
#define WRITE(name, text)                                                                          \
    case Banked::name: asm volatile("msr " text ", %0" : : "r"(value)); break;
        MMIOSCOPE_BANKED_REGISTERS(WRITE)
#undef WRITE
    }
}

} // namespace mmioscope::port
