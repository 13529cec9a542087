#include "port/memory.hpp"

#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope::port {

void flush_to_coherency(PhysicalAddress begin, std::size_t size) {
    const std::uint32_t line = 4u << (read<reg::CTR>() >> 16 & 0xf); // CTR.DminLine: words
    const auto end = static_cast<std::uint32_t>(begin.value + size);
    for (auto a = static_cast<std::uint32_t>(begin.value) & ~(line - 1); a < end; a += line)
        write<reg::DCCIMVAC>(a);
    complete_system(); // also for observers outside of the inner shareable domain
}

// One asm block: a store to the stack after its line is invalidated would again be in memory only.
// A line that is read ahead meanwhile equals memory.
void mmu_on(std::uint32_t hsctlr, PhysicalAddress stack_end) {
    asm volatile("bic r12, sp, #31\n"
                 "1:\n\t"
                 "mcr p15, 0, r12, c7, c6, 1\n\t" // DCIMVAC
                 "add r12, r12, #32\n\t"
                 "cmp r12, %1\n\t"
                 "blo 1b\n\t"
                 "dsb\n\t"
                 "mcr p15, 4, %0, c1, c0, 0\n\t" // HSCTLR
                 "isb"
                 :
                 : "r"(hsctlr), "r"(static_cast<std::uint32_t>(stack_end.value))
                 : "r12", "cc", "memory");
}

} // namespace mmioscope::port
