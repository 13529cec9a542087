@ From the first instruction to guest_main() on CPU 0 and secondary_main() on the others, and the exception
@ vectors. Enters in SVC mode with the MMU off, as a kernel does.
    .arch armv7ve
    .arch_extension sec
    .arm

    .equ stack_size, 16384

    .section .text.start, "ax"
    .global _start
_start:
    cpsid aif
    bl cpu_number_in_r0
    cmp r0, #0
    bne pen

    ldr r0, =bss_begin
    ldr r1, =bss_end
    mov r2, #0
1:  cmp r0, r1
    strlo r2, [r0], #4
    blo 1b
    ldr sp, =stacks_begin + stack_size
    bl build_map
    bl start_mmu
    bl guest_main
    b .

    .global secondary_start
secondary_start:
    cpsid aif
    bl cpu_number_in_r0
    add r0, r0, #1
    ldr r1, =stack_size
    ldr r2, =stacks_begin
    mla sp, r0, r1, r2
    bl start_mmu
    bl secondary_main
1:  wfi
    b 1b

    .text
cpu_number_in_r0:
    mrc p15, 0, r0, c0, c0, 5           @ MPIDR
    and r0, r0, #7
    bx lr

start_mmu:
    ldr r0, =vectors
    mcr p15, 0, r0, c12, c0, 0          @ VBAR
    mov r0, #0
    mcr p15, 0, r0, c2, c0, 2           @ TTBCR: short descriptors, TTBR0 alone
    mcr p15, 0, r0, c8, c7, 0           @ TLBIALL
    mcr p15, 0, r0, c7, c5, 0           @ ICIALLU
    ldr r0, =translation_table
    orr r0, r0, #0x4a                   @ walks: write-back, shareable
    mcr p15, 0, r0, c2, c0, 0           @ TTBR0
    mov r0, #1
    mcr p15, 0, r0, c3, c0, 0           @ DACR: domain 0 checks permissions
    mrc p15, 0, r0, c1, c0, 2           @ CPACR: VFP and NEON, for PL0 too
    orr r0, r0, #0xf00000
    mcr p15, 0, r0, c1, c0, 2
    isb
    mov r0, #0x40000000                 @ FPEXC.EN
    .fpu neon-vfpv4
    vmsr fpexc, r0
    mrc p15, 0, r0, c1, c0, 0           @ SCTLR
    bic r0, r0, #0x2                    @ A: unaligned accesses are part of what is tested
    orr r0, r0, #0x1000                 @ I
    orr r0, r0, #0x5                    @ C, M
    dsb
    mcr p15, 0, r0, c1, c0, 0
    isb
    bx lr

@ exception(kind, Frame&) runs in SVC mode on the SVC stack, which may be aligned to 4 only.
    .macro vector kind, offset
    sub lr, lr, #\offset
    srsdb sp!, #0x13
    cps #0x13
    push {r0-r12, lr}
    mov r0, #\kind
    mov r1, sp
    and r4, sp, #4
    sub sp, sp, r4
    bl exception
    add sp, sp, r4
    pop {r0-r12, lr}
    rfeia sp!
    .endm

    .balign 32
vectors:
    b .                                 @ reset
    b undefined
    bx lr                               @ SVC: the caller goes on, in SVC mode
    b prefetch_abort
    b data_abort
    b .
    b irq
    b .
undefined:
    vector 0, 0                         @ back behind the instruction
prefetch_abort:
    vector 1, 4
data_abort:
    vector 2, 8
irq:
    vector 3, 4
