@ A boot loader that does one thing wrong, or otherwise than usual, and then enters the image at IMAGE_BASE on each CPU.
@ QEMU's loader writes which one to the word at `kind`, 8 MiB below the image (tests/qemu/cases/doctor.sh).

    .syntax unified
    .arch armv7ve
    .arch_extension sec
    .arch_extension virt
    .arm

    .equ NONSECURE, 1                   @ Secure Supervisor to Non-secure Supervisor, without HCE
    .equ NO_FREQUENCY, 2                @ CNTFRQ = 0 on CPUs but CPU 0
    .equ NO_FREQUENCY_AT_ALL, 3         @ CNTFRQ = 0 on each CPU
    .equ ALONE, 4                       @ the other CPUs never come
    .equ MMU_ON, 5                      @ MMU and caches on, in Hyp or in Secure Supervisor
    .equ NO_GROUPS, 6                   @ Secure Supervisor to Hyp, and the GIC is left to Secure state
    .equ NO_HCE, 7                      @ as NO_GROUPS, and SCR.HCE stays clear
    .equ WILD_R2, 8                     @ r2 is the word behind `kind`

    .equ kind, IMAGE_BASE - 0x800000
    .equ MODE_HYP, 0x1a
    .equ MODE_MON, 0x16
    .equ SCR_NS, 0x031                  @ NS, FW, AW
    .equ SCR_HCE, 0x100

    .global _start
_start:
    mrc     p15, 0, r4, c0, c0, 5       @ MPIDR
    and     r4, r4, #0xff
    ldr     r5, =kind
    ldr     r5, [r5]
    cmp     r5, #NONSECURE
    ldreq   r6, =SCR_NS
    moveq   r7, #0x1d3                  @ SVC, masked
    beq     leave_secure
    cmp     r5, #NO_HCE
    ldreq   r6, =SCR_NS
    moveq   r7, #0x1da                  @ Hyp, masked
    beq     leave_secure
    cmp     r5, #NO_GROUPS
    ldreq   r6, =SCR_NS | SCR_HCE
    moveq   r7, #0x1da                  @ Hyp, masked
    beq     leave_secure
    cmp     r5, #NO_FREQUENCY
    cmpeq   r4, #0
    mov     r0, #0
    beq     enter
    cmp     r5, #NO_FREQUENCY
    cmpne   r5, #NO_FREQUENCY_AT_ALL
    mcreq   p15, 0, r0, c14, c0, 0      @ CNTFRQ
    beq     enter
    cmp     r5, #ALONE
    bne     2f
    cmp     r4, #0
    beq     enter
park:
    wfi
    b       park
2:  cmp     r5, #MMU_ON
    bne     enter

@ The GiB of the image and of this code at its own address and cached, in the format of the mode: a block for Hyp, sections
@ for Supervisor. Nothing else is mapped, not even a device.
    ldr     r1, =table
    ldr     r9, =IMAGE_BASE
    lsr     r9, r9, #30                 @ which GiB
    mrs     r0, CPSR
    and     r0, r0, #0x1f
    cmp     r0, #MODE_HYP
    bne     supervisor
    lsl     r0, r9, #30
    orr     r0, r0, #0x740              @ AF, Inner Shareable, AP[1]
    orr     r0, r0, #0x005              @ a block; AttrIndx 1: Normal
    mov     r2, #0
    add     r3, r1, r9, lsl #3
    str     r0, [r3]
    str     r2, [r3, #4]
    ldr     r0, =0x0044ff04
    mcr     p15, 4, r0, c10, c2, 0      @ HMAIR0
    ldr     r0, =0x80803500
    mcr     p15, 4, r0, c2, c0, 2       @ HTCR
    mcrr    p15, 4, r1, r2, c2          @ HTTBR
    mcr     p15, 4, r0, c8, c7, 0       @ TLBIALLH
    dsb
    isb
    mrc     p15, 4, r0, c1, c0, 0       @ HSCTLR
    ldr     r1, =0x1005
    orr     r0, r0, r1
    mcr     p15, 4, r0, c1, c0, 0
    isb
    b       enter

supervisor:
    lsl     r2, r9, #10                 @ the first MiB
    add     r3, r2, #1024
    ldr     r7, =0x11c0e                @ a section: PL1 and PL0, shareable, Normal Write-Back
3:  orr     r6, r7, r2, lsl #20
    str     r6, [r1, r2, lsl #2]
    add     r2, r2, #1
    cmp     r2, r3
    bne     3b
    mov     r0, #0
    mcr     p15, 0, r0, c2, c0, 2       @ TTBCR
    mcr     p15, 0, r1, c2, c0, 0       @ TTBR0
    mvn     r0, #0
    mcr     p15, 0, r0, c3, c0, 0       @ DACR
    mcr     p15, 0, r0, c8, c7, 0       @ TLBIALL
    dsb
    isb
    mrc     p15, 0, r0, c1, c0, 0       @ SCTLR
    ldr     r1, =0x1005
    orr     r0, r0, r1
    mcr     p15, 0, r0, c1, c0, 0
    isb
    b       enter

leave_secure:                           @ r6 = SCR, r7 = the PSR to go to
    mrc     p15, 0, r0, c1, c1, 2       @ NSACR: VFP and NEON
    orr     r0, r0, #0xc00
    mcr     p15, 0, r0, c1, c1, 2
    cps     #MODE_MON
    mcr     p15, 0, r6, c1, c1, 0       @ SCR
    isb
    msr     SPSR_fsxc, r7
    ldr     lr, =IMAGE_BASE
    movs    pc, lr

enter:
    mov     r2, #0                      @ no tree here: the image finds it at its place
    cmp     r5, #WILD_R2
    ldreq   r2, =kind
    ldreq   r2, [r2, #4]
    ldr     pc, =IMAGE_BASE
    .ltorg

    .balign 16384
table:
    .space  16384
