@ The trial's first instructions on each CPU, and its vectors. It enters as a kernel does: SVC, MMU and
@ caches off. Nothing is written before they are on, so no line of a stack can be stale.

    .syntax unified
    .arch armv7ve
    .arch_extension virt
    .arm

    .equ AREA_OFFSET, 0x1000000         @ abi/layout.hpp; doctor.cpp's told_page()
    .equ TELL_FLUSHED, 4 * 1            @ doctor/trial.hpp
    .equ TELL_EXCEPTION, 4 * 10
    .equ TTBCR_LONG, 0x80003500         @ EAE; walks Inner Shareable, Write-Back (B4.1.153)
    .equ SCTLR_ON, 0x00c5187d           @ at reset 0x00c50078; I, Z, C, M

#include "entry/cpu_number.S"

    .section .text.doctor_trial, "ax"
    .global doctor_trial
    .type   doctor_trial, %function
doctor_trial:
    cpsid   aif
    cpu_number r4, r5
    ldr     r5, =image_text_begin + AREA_OFFSET
    ldr     r6, [r5]                    @ Tell::order: traps, and answers with its address
    ldr     r0, [r6]                    @ Order::flushed, from memory
    str     r0, [r5, #TELL_FLUSHED]
    ldr     r1, [r6, #4]                @ Order::table
    ldr     r0, =0x0044ff04             @ MAIR0 as Hyp's HMAIR0 (arch/control.hpp)
    mcr     p15, 0, r0, c10, c2, 0
    ldr     r0, =TTBCR_LONG
    mcr     p15, 0, r0, c2, c0, 2
    mov     r2, #0
    mcrr    p15, 0, r1, r2, c2          @ TTBR0
    ldr     r0, =trial_vectors
    mcr     p15, 0, r0, c12, c0, 0      @ VBAR
    mcr     p15, 0, r0, c8, c7, 0       @ TLBIALL
    mcr     p15, 0, r0, c7, c5, 0       @ ICIALLU
    dsb
    isb
    ldr     r0, =SCTLR_ON
    mcr     p15, 0, r0, c1, c0, 0
    isb
    ldr     sp, =trial_stacks
    add     r0, r4, #1
    add     sp, sp, r0, lsl #12
    mov     r0, r4
    mov     r1, r6
    mov     r2, r5
    bl      doctor_run_trial            @ (cpu, order, page), does not return

    .global doctor_exclusive_over
    .type   doctor_exclusive_over, %function
doctor_exclusive_over:
    ldrex   r2, [r0]
    mrc     p14, 0, r3, c0, c1, 0       @ DBGDSCRint: traps once behind a step, and Hyp uses no exclusives
    strex   r3, r2, [r0]
    clrex
    mov     r0, r3
    bx      lr

    .global doctor_exclusive_alone
    .type   doctor_exclusive_alone, %function
doctor_exclusive_alone:
    mov     r1, #2
    clrex
    strex   r1, r2, [r0]                @ if it traps, the doctor skips it, and r1 stays
    mov     r0, r1
    bx      lr

    .global doctor_load_with_writeback
    .type   doctor_load_with_writeback, %function
doctor_load_with_writeback:             @ (address, log2 of its bytes)
    mov     r2, r0
    cmp     r1, #1
    ldrblo  r0, [r2], #4
    ldrheq  r0, [r2], #4
    ldrhi   r0, [r2], #4
    bx      lr

    .global doctor_hvc
    .type   doctor_hvc, %function
doctor_hvc:
    dsb
    hvc     #0
    bx      lr

@ HVC as a kernel's: of no effect, whether the hypervisor answers PSCI_VERSION, makes it undefined, or SCR.HCE does.
    .global doctor_try_hvc
    .type   doctor_try_hvc, %function
doctor_try_hvc:
    ldr     r1, =hvc_vectors
    mcr     p15, 0, r1, c12, c0, 0      @ VBAR
    isb
    ldr     r0, =0x84000000
    hvc     #0
    ldr     r1, =trial_vectors
    mcr     p15, 0, r1, c12, c0, 0
    isb
    bx      lr

    .balign 32
hvc_vectors:
    b       trial_exception
    movs    pc, lr                      @ undefined: behind the HVC
    .rept   6
    b       trial_exception
    .endr
trial_vectors:
    .rept   8
    b       trial_exception
    .endr
trial_exception:
    mrs     r0, CPSR                    @ the mode says which exception it was
    and     r0, r0, #0x1f
    ldr     r5, =image_text_begin + AREA_OFFSET
    str     r0, [r5, #TELL_EXCEPTION]   @ does not return
    .ltorg

    .section .bss.trial_stacks, "aw", %nobits
    .balign 64
trial_stacks:
    .space  MAX_CPUS * 4096
