#include "port/wait.hpp"

namespace mmioscope::port {

// One asm block: while HSCTLR.C is clear nothing may use the stack or any other memory, since lines
// could be allocated, or be written past the cache. Only level 1 belongs to this CPU alone; level 2
// stays in the domain. CSSELR belongs to the guest and is restored.
void wait_outside_coherency() {
    asm volatile("mrc p15, 2, r8, c0, c0, 0\n\t" // CSSELR
                 "mov r1, #0\n\t"
                 "mcr p15, 2, r1, c0, c0, 0\n\t" // level 1, data
                 "isb\n\t"
                 "mrc p15, 1, r1, c0, c0, 0\n\t" // CCSIDR (ARM ARM B4.1.19)
                 "mcr p15, 2, r8, c0, c0, 0\n\t"
                 "and r2, r1, #7\n\t"
                 "add r2, r2, #4\n\t"            // log2 of a line's bytes: where the set begins
                 "ubfx r3, r1, #3, #10\n\t"      // ways - 1
                 "ubfx r4, r1, #13, #15\n\t"     // sets - 1
                 "clz r5, r3\n\t"                // where the way begins
                 "mrc p15, 4, r0, c1, c0, 0\n\t" // HSCTLR
                 "bic r1, r0, #4\n\t"            // C: nothing is allocated from here on
                 "dsb\n\t"
                 "mcr p15, 4, r1, c1, c0, 0\n\t"
                 "isb\n"
                 "1:\n\t"
                 "mov r6, r4\n"
                 "2:\n\t"
                 "lsl r7, r3, r5\n\t"
                 "orr r7, r7, r6, lsl r2\n\t"
                 "mcr p15, 0, r7, c7, c14, 2\n\t" // DCCISW
                 "subs r6, r6, #1\n\t"
                 "bpl 2b\n\t"
                 "subs r3, r3, #1\n\t"
                 "bpl 1b\n\t"
                 "clrex\n\t"
                 "dsb\n\t"
                 "mrc p15, 0, r1, c1, c0, 1\n\t" // ACTLR
                 "bic r2, r1, #0x40\n\t"         // SMP
                 "mcr p15, 0, r2, c1, c0, 1\n\t"
                 "isb\n\t"
                 "dsb\n\t" // maintenance that others had begun is done
                 "wfi\n\t"
                 "orr r1, r1, #0x40\n\t"
                 "mcr p15, 0, r1, c1, c0, 1\n\t"
                 "isb\n\t"
                 "mcr p15, 4, r0, c1, c0, 0\n\t"
                 "isb"
                 :
                 :
                 : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "cc", "memory");
}

} // namespace mmioscope::port
