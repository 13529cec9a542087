@ One trial of a breakpoint, or of HVC: Hyp enters Non-secure PL1 here, with stage 1 and stage 2 off, and comes back at the
@ breakpoint, or by the HVC that it is set on, or, where that is undefined (SCR.HCE is clear), by an SMC, which HCR.TSC
@ traps (machine/debug_unit.cpp). Nothing here changes a register that C++ relies on, and nothing uses memory.

    .syntax unified
    .arch armv7ve
    .arch_extension sec
    .arch_extension virt
    .arm

    .equ PSR_SVC_MASKED, 0x1d3          @ Supervisor; A, I and F masked

    .section .text.trial, "ax"
    .global mmioscope_run_trial
    .type   mmioscope_run_trial, %function
mmioscope_run_trial:                    @ () -> r0 = HSR, r1 = where it stopped
    mrc     p15, 4, r3, c12, c0, 0      @ HVBAR
    ldr     r0, =trial_ends
    mcr     p15, 4, r0, c12, c0, 0
    adr     r0, trial_begin
    msr     ELR_hyp, r0
    mov     r0, #PSR_SVC_MASKED
    msr     SPSR_fsxc, r0
    eret
trial_begin:
    nop
    .global mmioscope_trial_stop
mmioscope_trial_stop:
    hvc     #0

@ Where the guest goes if the debug event is not routed to Hyp, or the HVC is undefined.
    .balign 32
    .global mmioscope_trial_vectors
mmioscope_trial_vectors:
    .rept   8
    smc     #0
    .endr

@ Hyp's vectors meanwhile.
    .balign 32
trial_ends:
    .rept   8
    b       trial_ended
    .endr
trial_ended:
    mrc     p15, 4, r0, c5, c2, 0       @ HSR
    mrs     r1, ELR_hyp
    mcr     p15, 4, r3, c12, c0, 0      @ HVBAR
    isb
    bx      lr
    .ltorg
