@ void run_form(void (*code)(), guest::Registers*, bool user): loads r0 to r9 and the flags, calls `code` (ARM or
@ Thumb) in SVC or in User mode, and stores r0 to r9 and the CPSR as they are then.
    .arch armv7ve
    .arm
    .text
    .global run_form
run_form:
    push {r4-r12, lr}
    mov r10, r1
    mov r11, r2
    mov r12, r0
    cmp r11, #0
    beq 1f
    ldr r3, =user_stack_end
    cps #0x1f                           @ System mode has User's stack pointer
    mov sp, r3
    cps #0x10
1:  ldr r0, [r10, #40]
    msr cpsr_f, r0
    ldm r10, {r0-r9}
    blx r12
    stm r10, {r0-r9}
    mrs r0, cpsr
    str r0, [r10, #40]
    cmp r11, #0
    popeq {r4-r12, pc}
    mrs r4, cpsr
    svc #0                              @ stays in SVC mode, with interrupts off
    tst r4, #0x80
    bne 2f
    cpsie i
2:  pop {r4-r12, pc}

    .bss
    .balign 8
    .space 1024
user_stack_end:
