@ run_case(): the whole state of cases.hpp into the registers, one instruction, and the state again as
@ the exception behind it found it. In SVC mode, interrupts off. And the exception vectors for that.
    .arch armv7ve
    .arch_extension sec
    .fpu neon-vfpv4
    .arm
    .equ pc_at, 60
    .equ cpsr_at, 64
    .equ spsr_at, 68
    .equ fpscr_at, 72
    .equ user_at, 76
    .equ d_at, 108
    .equ masked, 0xc0                   @ I and F

    .text
    .global run_case
run_case:
    push {r4-r12, lr}
    ldr r1, =caller_sp
    str sp, [r1]
    ldr r1, =current_state
    str r0, [r1]
    add r1, r0, #d_at
    vldm r1!, {d0-d15}
    vldm r1, {d16-d31}
    ldr r1, [r0, #fpscr_at]
    vmsr fpscr, r1
    cps #0x1f
    add r1, r0, #user_at
    ldm r1, {r8-r14}
    ldr r5, [r0, #cpsr_at]
    and r5, r5, #0x1f
    cmp r5, #0x10
    moveq r5, #0x1f                     @ User's registers are System's
    orr r1, r5, #masked
    msr cpsr_c, r1
    cmp r5, #0x1f
    ldr r1, [r0, #spsr_at]
    msrne spsr_cxsf, r1
    add r1, r0, #32
    ldm r1, {r8-r14}
    cps #0x17
    mov sp, r0
    ldm sp, {r0-r7}
    add sp, sp, #pc_at
    clrex
    rfeia sp

@ In the exception's mode, with its LR and SPSR.
    .macro capture kind, offset
    sub lr, lr, #\offset
    ldr sp, =current_state
    ldr sp, [sp]
    stm sp, {r0-r7}
    str lr, [sp, #pc_at]
    mrs r0, spsr
    str r0, [sp, #cpsr_at]
    mov r1, #\kind
    mov r2, sp
    b captured
    .endm

captured:
    and r3, r0, #0x1f
    cmp r3, #0x10
    moveq r3, #0x1f
    orr r4, r3, #masked
    msr cpsr_c, r4
    add r5, r2, #32
    stm r5, {r8-r14}
    cmp r3, #0x1f
    mov r6, #0
    mrsne r6, spsr
    str r6, [r2, #spsr_at]
    cps #0x1f
    add r5, r2, #user_at
    stm r5, {r8-r14}
    add r5, r2, #d_at
    vstm r5!, {d0-d15}
    vstm r5, {d16-d31}
    vmrs r6, fpscr
    str r6, [r2, #fpscr_at]
    cps #0x13
    ldr sp, =caller_sp
    ldr sp, [sp]
    mov r0, r1
    pop {r4-r12, pc}

@ An interrupt may come in any mode, with any stack: it has its own.
irq:
    sub lr, lr, #4
    ldr sp, =irq_stack_end
    push {r0-r3, r12, lr}
    ldr r0, =watched_address
    ldm r0, {r1, r2}
    cmp lr, r1
    addeq r2, r2, #1
    streq r2, [r0, #4]
    mrs r0, spsr
    push {r0, r1}
    mov r0, #3
    mov r1, #0
    bl exception
    pop {r0, r1}
    msr spsr_cxsf, r0
    ldm sp, {r0-r3, r12, pc}^

    .balign 32
vectors:
    b .                                 @ reset
    b 1f
    b .                                 @ SVC
    b 2f
    b 3f
    b .
    b irq
    b .
1:  capture 0, 0
2:  capture 1, 4
3:  capture 2, 8

    .global start_vectors
start_vectors:
    ldr r0, =vectors
    mcr p15, 0, r0, c12, c0, 0          @ VBAR
    isb
    bx lr

    .data
    .balign 4
    .global watched_address, interrupts_there
watched_address:
    .word 0
interrupts_there:
    .word 0
current_state:
    .word 0
caller_sp:
    .word 0

    .bss
    .balign 8
    .space 1024
irq_stack_end:
