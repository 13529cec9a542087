@ Runs before C++: from the state in which the board starts a CPU to Hyp with a stack.
@
@   MMU or caches on           empty the caches, turn both off
@   not where it is linked for copy the image there
@   Hyp                        nothing to do
@   Secure PL1                 hand the GIC over; through Monitor to Hyp
@   Non-secure PL1, no Hyp     say so on the UART and stop
@
@ Every CPU comes here, on some boards all at once. r2 may point to a device tree.

    .syntax unified
    .arch armv7ve
    .arch_extension sec
    .arch_extension virt
    .arm

    .equ MODE_MASK, 0x1f
    .equ MODE_MON,  0x16
    .equ MODE_HYP,  0x1a
    .equ CONTROL_M_C, 0x5               @ SCTLR, HSCTLR: MMU, caches
    .equ CONTROL_C, 0x4
    .equ CONTROL_I, 0x1000
    .equ SCTLR_A, 0x2                   @ unaligned accesses fault
    .equ SCTLR_V, 0x2000                @ high vectors
    .equ SCTLR_TE_EE, 0x42000000        @ exceptions in Thumb state, big-endian
    .equ HSCTLR_BEFORE_MMU, 0x30c5087a  @ what reads as one, and A
    .equ PSR_HYP_MASKED, 0x1da          @ Hyp; A, I and F masked
    .equ SCR_NONSECURE, 0x131           @ NS, FW, AW, HCE (ARM ARM B4.1.129)
    .equ NSACR_COPROCESSORS, 0xc00      @ CP10 and CP11: VFP and NEON
    .equ ACTLR_SMP, 0x40                @ Cortex-A15, A7: in the coherency domain
    .equ NSACR_NS_SMP, 0x40000          @ Non-secure state may write ACTLR.SMP

#include "entry/cpu_number.S"

    .section .text.start, "ax"
    .global _start
_start:
    cpsid   aif
    mov     r10, r2
    mrs     r9, CPSR
    and     r9, r9, #MODE_MASK
    cmp     r9, #MODE_HYP
    mrceq   p15, 4, r11, c1, c0, 0      @ HSCTLR
    mrcne   p15, 0, r11, c1, c0, 0      @ SCTLR
    tst     r11, #CONTROL_M_C
    bne     mmu_off
mmu_is_off:
    mrc     p15, 0, r9, c0, c0, 5       @ MPIDR
    adr     r0, _start
    ldr     r1, =_start
    cmp     r0, r1
    bne     move
at_its_place:
    bl      set_vectors
    tst     r9, #0xff                   @ Aff0: the first CPU of a cluster?
    bne     wait_for_tree

@ Where all CPUs come at once, those of another cluster do, too, and no exclusives work yet. So each one that finds no name
@ writes its own, waits for longer than a store takes, and the last one goes on (Fischer). MPIDR is never 0.
    ldr     r0, =boot_cpu
    ldr     r1, [r0]
    cmp     r1, #0
    bne     wait_for_tree
    str     r9, [r0]
    dsb
    mov     r2, #1000                   @ loads from memory, each as slow as a store
1:  ldr     r1, [r0]
    subs    r2, r2, #1
    bne     1b
    cmp     r1, r9
    bne     wait_for_tree
    mov     r9, #0                      @ this is CPU 0
    bl      set_stack
    bl      clear_bss
    mov     r0, r10
    mrs     r1, CPSR
    mov     r2, r11
    bl      mmioscope_find_board        @ (r2, CPSR, control at entry): clusters, what differs between boards
    dsb
    b       check_mode
wait_for_tree:
    ldr     r0, =mmioscope_clusters
1:  ldr     r1, [r0]
    cmp     r1, #0
    beq     1b
    cpu_number r9, r1
    cmp     r9, #MAX_CPUS
    bhs     park
    bl      set_stack

check_mode:
    mrs     r0, CPSR
    and     r0, r0, #MODE_MASK
    cmp     r0, #MODE_HYP
    beq     in_hyp

    mrc     p15, 0, r0, c0, c1, 1       @ ID_PFR1
    ands    r1, r0, #0xf000             @ Virtualization Extensions
    beq     no_hyp
    ands    r1, r0, #0x00f0             @ Security Extensions: is there a Monitor?
    beq     no_hyp
    ldr     r0, =no_hyp_vectors         @ in Non-secure state reading SCR is undefined
    mcr     p15, 0, r0, c12, c0, 0      @ VBAR
    isb
    mrc     p15, 0, r0, c1, c1, 0       @ SCR
    bl      set_vectors

    mov     r0, r9
    bl      mmioscope_leave_secure      @ (cpu number): what only Secure state can do
    mrc     p15, 0, r0, c1, c0, 1       @ ACTLR
    orr     r0, r0, #ACTLR_SMP
    mcr     p15, 0, r0, c1, c0, 1
    mrc     p15, 0, r0, c1, c1, 2       @ NSACR
    orr     r0, r0, #NSACR_COPROCESSORS
    mcr     p15, 0, r0, c1, c1, 2
    cps     #MODE_MON
    ldr     r0, =SCR_NONSECURE
    mcr     p15, 0, r0, c1, c1, 0
    isb
    mov     r0, #PSR_HYP_MASKED
    msr     SPSR_fsxc, r0
    adr     lr, in_hyp
    movs    pc, lr

in_hyp:
    bl      set_up_hyp
    mov     r0, r9
    bl      mmioscope_start             @ (cpu number): the guest's Frame
    mov     sp, r0                      @ stays SP_hyp (machine/fast_state.hpp)
    b       return_to_guest

@ Firmware starts a CPU here, in Hyp, after the guest's CPU_ON (hyp/core/trap/call.cpp); the machine
@ exists.
    .global mmioscope_cpu_on_entry
mmioscope_cpu_on_entry:
    cpsid   aif
    cpu_number r9, r1
    bl      set_up_hyp
    mov     r0, r9
    bl      mmioscope_start_again       @ (cpu number): the guest's Frame
    mov     sp, r0
    b       return_to_guest

@ A boot loader that only jumps here (U-Boot's go) leaves MMU and caches on. All that it has loaded may still be in the
@ caches, and what follows here writes memory directly. r9 = mode, r11 = HSCTLR or SCTLR. No memory is used until the
@ caches are empty: with C clear nothing is allocated any more, then every level goes to the point of coherency by set
@ and way (ARM ARM B2.2.7, CLIDR B4.1.20, CCSIDR B4.1.19), then the MMU goes off. The loop over the levels begins with a
@ DSB: the loader's stores are in the cache before the first level is emptied, each level is empty before the next one is
@ (Cortex-A7 erratum 814220: otherwise level 2 may be emptied before level 1 has written to it), and the last one before
@ the MMU goes off.
    .macro write_control register
    cmp     r9, #MODE_HYP
    mcreq   p15, 4, \register, c1, c0, 0
    mcrne   p15, 0, \register, c1, c0, 0
    isb
    .endm
mmu_off:
    bic     r0, r11, #CONTROL_C
    write_control r0
    mrc     p15, 1, r1, c0, c0, 1       @ CLIDR
    ubfx    r2, r1, #24, #3             @ LoC: the number of levels
    mov     r3, #0
1:  dsb
    cmp     r3, r2
    bhs     5f
    add     r0, r3, r3, lsl #1
    lsr     r0, r1, r0
    and     r0, r0, #7
    cmp     r0, #2                      @ from here on the level has a data cache
    blo     4f
    lsl     r0, r3, #1
    mcr     p15, 2, r0, c0, c0, 0       @ CSSELR
    isb
    mrc     p15, 1, r0, c0, c0, 0       @ CCSIDR
    and     r4, r0, #7
    add     r4, r4, #4                  @ log2 of a line's bytes: where the set begins
    ubfx    r5, r0, #3, #10             @ ways - 1
    ubfx    r6, r0, #13, #15            @ sets - 1
    clz     r7, r5                      @ where the way begins
2:  mov     r8, r6
3:  lsl     r0, r5, r7
    orr     r0, r0, r8, lsl r4
    orr     r0, r0, r3, lsl #1
    mcr     p15, 0, r0, c7, c14, 2      @ DCCISW
    subs    r8, r8, #1
    bpl     3b
    subs    r5, r5, #1
    bpl     2b
4:  add     r3, r3, #1
    b       1b
5:  mov     r0, #0
    mcr     p15, 2, r0, c0, c0, 0       @ CSSELR as after reset
    bic     r0, r11, #CONTROL_M_C
    bic     r0, r0, #CONTROL_I
    write_control r0
    mcreq   p15, 4, r0, c8, c7, 0       @ TLBIALLH
    mcrne   p15, 0, r0, c8, c7, 0       @ TLBIALL
    mcr     p15, 0, r0, c7, c5, 0       @ ICIALLU
    mcr     p15, 0, r0, c7, c5, 6       @ BPIALL
    dsb
    isb
    b       mmu_is_off

@ A boot loader that lives where the image belongs loads it elsewhere and is overwritten here. r0 = where the image
@ lies, r1 = where it is linked for: not overlapping, because this code runs while it copies. Caches and MMU are off, so
@ the copy goes to memory. What the caches still have of the place, up to the stacks, would hide it later. The other CPUs
@ must not enter here: firmware starts them where the image is linked for.
move:
    tst     r9, #0xff
    bne     park
    ldr     r2, =bss_begin              @ aligned to 64; what follows is not in the file
    sub     r2, r2, r1
    subs    r3, r0, r1
    rsblo   r3, r3, #0
    cmp     r3, r2
    blo     park
    ldr     r3, =boot_stacks_end
    mov     r4, r1
1:  mcr     p15, 0, r4, c7, c6, 1       @ DCIMVAC
    add     r4, r4, #32                 @ the shortest cache line of the supported CPUs
    cmp     r4, r3
    blo     1b
    dsb
    add     r2, r1, r2
2:  ldmia   r0!, {r3-r6}
    stmia   r1!, {r3-r6}
    cmp     r1, r2
    blo     2b
    dsb
    mcr     p15, 0, r0, c7, c5, 0       @ ICIALLU
    mcr     p15, 0, r0, c7, c5, 6       @ BPIALL
    dsb
    isb
    ldr     pc, =at_its_place

@ Before any C++, also in the modes below Hyp: vectors that say what happened, and alignment faults. While the MMU is off
@ memory is Strongly-ordered, where hardware faults at an unaligned access whatever A says (ARM ARM A3.2.1), and an
@ emulator only if A is set. In Hyp also HTPIDR = 0: no state yet. Changes r0 and r1.
set_vectors:
    mrs     r0, CPSR
    and     r0, r0, #MODE_MASK
    cmp     r0, #MODE_HYP
    bne     1f
    ldr     r0, =hyp_vectors
    mcr     p15, 4, r0, c12, c0, 0      @ HVBAR
    mov     r0, #0
    mcr     p15, 4, r0, c13, c0, 2      @ HTPIDR
    ldr     r0, =HSCTLR_BEFORE_MMU
    mcr     p15, 4, r0, c1, c0, 0       @ HSCTLR
    isb
    bx      lr
1:  ldr     r0, =boot_vectors
    mrc     p15, 0, r1, c0, c1, 1       @ ID_PFR1
    tst     r1, #0xf0                   @ Security Extensions; without them there is no VBAR
    mcrne   p15, 0, r0, c12, c0, 0      @ VBAR
    mrc     p15, 0, r0, c1, c0, 0       @ SCTLR
    orr     r0, r0, #SCTLR_A
    bic     r0, r0, #SCTLR_V
    bic     r0, r0, #SCTLR_TE_EE
    mcr     p15, 0, r0, c1, c0, 0
    isb
    bx      lr

@ Sets vectors and alignment faults, SMP if firmware allows it, and a stack: Hyp has its own SP.
set_up_hyp:
    mov     r8, lr
    bl      set_vectors
    mrc     p15, 0, r0, c0, c1, 1       @ ID_PFR1
    tst     r0, #0xf0                   @ Security Extensions; without them there is no NSACR
    beq     1f
    mrc     p15, 0, r0, c1, c1, 2       @ NSACR
    tst     r0, #NSACR_NS_SMP           @ Hyp needs SMP; firmware may have left it clear
    mrcne   p15, 0, r0, c1, c0, 1       @ ACTLR
    orrne   r0, r0, #ACTLR_SMP
    mcrne   p15, 0, r0, c1, c0, 1
1:  isb
    bl      set_stack
    bx      r8

@ sp = the top of this CPU's stack (linker/hyp.ld). Changes only r0 and r1. With the MMU off, the
@ stack is written to memory directly. Lines of it that are still in the caches, even dirty ones
@ from before this CPU's last CPU_OFF, would later be written over it, so they are invalidated. The
@ top page is more than is used until port::mmu_on.
set_stack:
    ldr     r0, =boot_stacks
    ldr     r1, =2 * STACK_SIZE         @ two per CPU; the second one is for faults
    mla     r0, r9, r1, r0
    add     sp, r0, #STACK_SIZE
    sub     r0, sp, #4096
1:  mcr     p15, 0, r0, c7, c6, 1       @ DCIMVAC
    add     r0, r0, #32                 @ the shortest cache line of the supported CPUs
    cmp     r0, sp
    blo     1b
    dsb
    bx      lr

clear_bss:
    ldr     r0, =bss_begin
    ldr     r1, =bss_end
    mov     r2, #0
1:  cmp     r0, r1
    strlo   r2, [r0], #4
    blo     1b
    bx      lr

    .macro vector_table name, target
    .balign 32
\name:
    .rept   8
    b       \target
    .endr
    .endm
    vector_table no_hyp_vectors, no_hyp @ undefined instruction: the read of SCR
    vector_table last_boot_vectors, park

@ An exception in C++ before Hyp, in the mode that it leads to. An exception in the report is silent.
    .balign 32
boot_vectors:
    .irp    vector, 0, 1, 2, 3, 4, 5, 6, 7
    b       boot_fault_\vector
    .endr
    .irp    vector, 0, 1, 2, 3, 4, 5, 6, 7
boot_fault_\vector:
    mov     r4, #\vector
    b       boot_fault
    .endr
boot_fault:
    mov     r5, lr
    ldr     r0, =last_boot_vectors
    mcr     p15, 0, r0, c12, c0, 0      @ VBAR
    isb
    cpu_number r9, r1
    bl      set_stack
    mov     r0, r4
    mov     r1, r5
    bl      mmioscope_boot_fault        @ (vector, LR), does not return

no_hyp:                                 @ also from Undefined mode, which has its own SP
    bl      set_vectors
    bl      set_stack
    cmp     r9, #0
    bleq    mmioscope_no_hyp            @ prints it
park:
    wfi
    b       park
    .ltorg

    .section .data.boot, "aw"
    .balign 4
boot_cpu:
    .word   0                           @ MPIDR of CPU 0
    .global mmioscope_clusters
mmioscope_clusters:
    .word   0                           @ arch::Clusters; the other CPUs wait for it
