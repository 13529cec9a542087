@ A boot loader's "kernel" that hands over to the firmware in flash: U-Boot expects to run at 0, with the device tree
@ at the beginning of memory. Entered with the tree's address in r2.
    .arch armv7ve
    .arm

    .global _start
_start:
    ldr r0, =0x40000000
    ldr r1, [r2, #4]                    @ totalsize, big-endian
    rev r1, r1
    add r1, r2, r1
1:  ldr r3, [r2], #4
    str r3, [r0], #4
    cmp r2, r1
    blo 1b
    mov r0, #0
    mov r1, #0
    mov r2, #0
    bx r0
