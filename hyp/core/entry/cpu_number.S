@ The number of the CPU that executes this, from MPIDR and the first halfword of arch::Clusters, which start.S has. Until
@ the device tree is read that is 0, and the number is Aff0. Changes \to, \scratch and the flags, and no other register.
    .macro cpu_number to, scratch
    mrc     p15, 0, \to, c0, c0, 5      @ MPIDR
    ldr     \scratch, =mmioscope_clusters
    ldr     \scratch, [\scratch]
    eor     \to, \to, \scratch
    tst     \to, #0xff00                @ Aff1: CPU 0's cluster?
    eor     \to, \to, \scratch
    and     \to, \to, #0xff
    and     \scratch, \scratch, #0xff
    addne   \to, \to, \scratch
    .endm
