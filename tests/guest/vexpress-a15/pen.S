@ QEMU starts an ELF file on all CPUs at once: the others wait here for the address that CPU 0 writes to
@ SYS_FLAGS. (A hypervisor or a boot loader has a pen of its own.)
    .arch armv7ve
    .arm

    .equ sys_flags, 0x1c010030

    .text
    .global pen
pen:
    ldr r1, =sys_flags
1:  ldr r0, [r1]
    cmp r0, #0
    beq 1b
    bx r0
