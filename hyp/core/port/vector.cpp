#include "port/vector.hpp"

namespace mmioscope::port {

// The directive is for the assembler only: the compiler uses general registers only.
#define VECTOR ".fpu neon-vfpv4\n\t"

std::uint32_t vector_control() {
    std::uint32_t v;
    asm volatile(VECTOR "vmrs %0, fpexc" : "=r"(v));
    return v;
}

std::uint32_t vector_features() {
    std::uint32_t v;
    asm volatile(VECTOR "vmrs %0, mvfr0" : "=r"(v));
    return v;
}

std::uint64_t vector_doubleword(unsigned n) {
    std::uint64_t v = 0;
    switch (n) {
        // The register is part of the instruction's encoding, so each one needs its own
        // instruction.
        // clang-format off
#define READ(n) case n: asm volatile(VECTOR "vmov %Q0, %R0, d" #n : "=r"(v)); break;
        READ(0) READ(1) READ(2) READ(3) READ(4) READ(5) READ(6) READ(7)
        READ(8) READ(9) READ(10) READ(11) READ(12) READ(13) READ(14) READ(15)
        READ(16) READ(17) READ(18) READ(19) READ(20) READ(21) READ(22) READ(23)
        READ(24) READ(25) READ(26) READ(27) READ(28) READ(29) READ(30) READ(31)
#undef READ
            // clang-format on
            default : break;
    }
    return v;
}

} // namespace mmioscope::port
