@ Instructions with a name: where the probe's breakpoints are put, and the accesses it makes to devices.
    .syntax unified
    .arch armv7ve
    .text

    .macro function name
    .balign 4
    .global \name
    .type \name, %function
\name:
    .endm

    .arm
    function arm_target                 @ word(word): one more
    add r0, r0, #1
    .global arm_target_next
arm_target_next:
    bx lr

    function load_arm                   @ word(address)
    ldr r0, [r0]
    .global load_arm_next
load_arm_next:
    bx lr

    function store_arm                  @ (address, word)
    str r1, [r0]
    .global store_arm_next
store_arm_next:
    bx lr

    function load_twice                 @ word(address): without and with HSR.ISV
    ldr r1, [r0], #4
    ldrd r2, r3, [r0]
    add r0, r1, r2
    bx lr

    .thumb
    .thumb_func
    function thumb_target
    nop
    adds r0, #1
    .global thumb_target_next
thumb_target_next:
    bx lr

    .thumb_func
    function load_thumb
    ldr r0, [r0]
    .global load_thumb_next
load_thumb_next:
    bx lr

    .section .note.GNU-stack, "", %progbits
