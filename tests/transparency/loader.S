@ The boot loader of the run without a hypervisor: enters the kernel as the hypervisor enters it, with the same tree
@ at the same address. On vexpress-a15 it keeps the second CPU where the board does until SYS_FLAGS names an address
@ (DUI 0447 4.3.5); on virt that one waits in the firmware. It lies in the memory that the tree leaves out, where else the hypervisor does.
    .arch armv7ve
    .arm

    .equ kernel, RAM_BASE + 0x3000000   @ host-tools/run/board.hpp
    .equ tree, RAM_BASE + 0x7e00000     @ hyp/abi/layout.hpp: 2 MiB below the hypervisor
    .equ sys_flags, 0x1c010030
    .equ gic_cpu_interface, 0x2c002000

    .global _start
_start:
    cpsid aif
    mrc p15, 0, r0, c0, c0, 5           @ MPIDR
    ands r0, r0, #3
    bne pen
    mov r0, #0
    mvn r1, #0
    ldr r2, =tree
    ldr pc, =kernel

pen:
    ldr r0, =gic_cpu_interface          @ interrupts wake the CPU, and are not taken
    mov r1, #1
    str r1, [r0]                        @ GICC_CTLR
    mov r1, #0xff
    str r1, [r0, #4]                    @ GICC_PMR
    ldr r1, =sys_flags
1:  wfi
    ldr r0, [r1]
    cmp r0, #0
    beq 1b
    bx r0
