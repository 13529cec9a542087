@ Hyp's exception vectors (ARM ARM B1.8.1, table B1-3). fast_path.S handles the guest's traps.
@ entry/frame.hpp asserts the frames' offsets.

    .syntax unified
    .arch armv7ve
    .arm

#include "entry/cpu_number.S"

    .section .text.vectors, "ax"
    .balign 32
    .global hyp_vectors
hyp_vectors:
    b   hyp_fault_reset
    b   hyp_fault_undefined
    b   hyp_fault_supervisor
    b   hyp_fault_prefetch
    b   hyp_fault_data
    b   guest_trap
    b   hyp_fault_irq
    b   hyp_fault_fiq

@ Hyp itself took an exception. Nothing is trusted except the CPU's number, so that alone gives the
@ emergency stack. The guest's thread registers serve as scratch, since the guest will not run
@ again.
    .equ CPU_STACKS_SHIFT, 15           @ log2 of a CPU's two stacks
    .if (1 << CPU_STACKS_SHIFT) != 2 * STACK_SIZE
    .error "CPU_STACKS_SHIFT is not that of STACK_SIZE"
    .endif

    .macro vectors_are name             @ uses r0
    ldr     r0, =\name
    mcr     p15, 4, r0, c12, c0, 0      @ HVBAR
    isb
    .endm
    .macro use_emergency_stack          @ uses r0
    cpu_number r0, sp
    ldr     sp, =boot_stacks + 2 * STACK_SIZE
    add     sp, sp, r0, lsl #CPU_STACKS_SHIFT
    .endm

    .macro hyp_fault name, number
hyp_fault_\name:
    mcr     p15, 0, r0, c13, c0, 2      @ TPIDRURW = r0
    mov     r0, #\number
    b       hyp_fault
    .endm

    hyp_fault reset, 0
    hyp_fault undefined, 1
    hyp_fault supervisor, 2
    hyp_fault prefetch, 3
    hyp_fault irq, 6
    hyp_fault fiq, 7

@ A data abort in Hyp. An external abort of an access below that Hyp makes for the guest concerns
@ only the guest: it goes on at try_aborted. The test must do with one register, which it keeps in
@ HIFAR: only prefetch aborts write that (ARM ARM B4.1.83).
hyp_fault_data:
    mcr     p15, 4, r0, c6, c0, 2       @ HIFAR = r0
    mrs     r0, ELR_hyp
1:  sub     r0, r0, pc                  @ pc reads as 1b + 8
    sub     r0, r0, #(try_begin - 1b - 8)
    cmp     r0, #(try_end - try_begin)
    bhs     2f
    mrc     p15, 4, r0, c5, c2, 0       @ HSR: was it an external abort of this access?
    and     r0, r0, #0x3f
    cmp     r0, #0x10                   @ synchronous external abort (B3.13.6, table B3-23)
    bne     2f
    adr     r0, try_aborted
    msr     ELR_hyp, r0
    eret
2:  mrs     r0, ELR_hyp                 @ or an access of the fast path, which has the address in r5
3:  sub     r0, r0, pc
    sub     r0, r0, #(guest_trap - 3b - 8) & 0xff00
    sub     r0, r0, #(guest_trap - 3b - 8) & 0xff
    cmp     r0, #(mmioscope_fast_end - guest_trap)
    bhs     4f
    mrc     p15, 4, r0, c5, c2, 0       @ HSR
    and     r0, r0, #0x3f
    cmp     r0, #0x10
    mrc     p15, 4, r0, c6, c0, 0       @ HDFAR
    cmpeq   r0, r5
    bne     4f
    ldr     r0, =mmioscope_fast_aborted
    msr     ELR_hyp, r0
    eret
4:  mrc     p15, 4, r0, c6, c0, 2
    mcr     p15, 0, r0, c13, c0, 2      @ TPIDRURW = r0
    mov     r0, #4
    b       hyp_fault

@ Accesses for the guest that may meet an external abort (port/device.hpp). Return r0 = value, r1 =
@ 0 or HSR.
    .macro try_access name, instruction:vararg
    .global mmioscope_try_\name
    .type   mmioscope_try_\name, %function   @ C++ that calls it may be Thumb
mmioscope_try_\name:
    \instruction
    b       try_done
    .endm
try_begin:
    try_access read8, ldrb r0, [r0]
    try_access read16, ldrh r0, [r0]
    try_access read32, ldr r0, [r0]
    try_access write8, strb r1, [r0]
    try_access write16, strh r1, [r0]
    try_access write32, str r1, [r0]
try_end:
try_done:
    dsb                                 @ a store's abort comes while it can be recognized
    mov     r1, #0
    bx      lr
try_aborted:
    mov     r0, #0
    mrc     p15, 4, r1, c5, c2, 0       @ HSR
    bx      lr

hyp_fault:
    mcr     p15, 0, sp, c13, c0, 3      @ TPIDRURO = sp at the fault
    mcr     p15, 0, r0, c13, c0, 4      @ TPIDRPRW = vector number
    vectors_are hyp_report_vectors
    use_emergency_stack
    sub     sp, sp, #72
    stm     sp, {r0-r12}
    mrc     p15, 0, r1, c13, c0, 2
    str     r1, [sp, #0]
    mrc     p15, 0, r1, c13, c0, 3
    str     r1, [sp, #52]
    str     lr, [sp, #56]
    mrs     r1, ELR_hyp
    str     r1, [sp, #60]
    mrs     r1, SPSR
    str     r1, [sp, #64]
    mrc     p15, 0, r1, c13, c0, 4
    str     r1, [sp, #68]
    mov     r1, #0
    mcr     p15, 0, r1, c13, c0, 4      @ TPIDRPRW: nothing printed yet (port/report.hpp)
    mrc     p15, 4, r0, c13, c0, 2      @ HTPIDR: 0 before it is set
    mov     r1, sp
    bl      mmioscope_hyp_fault         @ (Cpu*, HypFrame&), does not return
    b       last_halt

@ While a report is printed: an exception ends it with one more line, and an exception in that
@ halts.
    .balign 32
    .global hyp_report_vectors
hyp_report_vectors:
    .rept   8
    b       report_fault
    .endr

report_fault:
    vectors_are last_vectors
    use_emergency_stack
    mrs     r0, ELR_hyp
    bl      mmioscope_report_fault      @ (pc), does not return

    .balign 32
last_vectors:
    .rept   8
    b       last_halt
    .endr

    .global last_halt
last_halt:
    wfi
    b       last_halt
    .ltorg

#include "fast_path.S"
