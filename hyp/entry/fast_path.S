@ From the guest's trap to its record, for nearly every access: a load or store of one register, to a device that is traced,
@ by a kernel, or under shadow by a program of the guest's. All that is optional lies in words of the CPU's own (machine/fast_state.hpp), which the slow
@ path sets at its end: whatever is on that this does not know of makes `handler` the slow path.
@
@ SP_hyp is that state: the guest's registers are saved at it, what the path needs lies below, the step's own above.
@ Offsets are asserted by machine/fast_state.hpp, and those of the ring by abi/.
@ In order: claim (whose page, its lock), begin (mark, clock, what is known), the access, and commit.

    .syntax unified
    .arch armv7ve
    .arch_extension virt
    .arm

    .equ FAST_DISPATCH, -24
    .equ FAST_SLOT, -8
    .equ FAST_HANDLER, -4
    .equ FRAME_LR, 52
    .equ FRAME_PC, 56
    .equ FAST_SEQUENCE, 64              @ and the instruction's length
    .equ FAST_LENGTH, 68
    .equ FAST_COMMIT, 72                @ and the head's
    .equ FAST_READY, 80
    .equ FAST_LOOK, 84
    .equ FAST_STACK, 88
    .equ FAST_TYPE, 92
    .equ FAST_VECTORS, 96               @ SCTLR, VBAR
    .equ FAST_SHADOW, 104               @ VTTBR
    .equ FAST_NORMAL, 112               @ VTTBR
    .equ FAST_HDCR_STEP, 120            @ and HSTR
    .equ FAST_DSCR, 128                 @ and HDCR between steps
    .equ FAST_PSR, 136
    .equ FAST_VALUE, 140
    .equ FAST_STEP, 144                 @ next pc, va, pa, region, time, HSR
    .equ FAST_FORM, 172
    .equ FAST_NEXT_LOOK, 176
    .equ FAST_TASK, 184
    .equ FAST_ACCESS, 188               @ what this engine does
    .equ FAST_AFTER_LOOK, 192
    .equ FAST_OPEN, 196
    .equ FAST_MATCH, 200
    .equ FAST_TURN, 204

    .equ RING_NEXT, 4                   @ from RingHeader::next_sequence - 4: the head is behind it
    .equ RING_IN_FLIGHT, 68             @ and its pc
    .equ RING_IN_FLIGHT_TIME, 80
    .equ RING_IN_FLIGHT_PA, 88
    .equ SLOT_COMMIT, -40               @ from Record::pc
    .equ SLOT_TYPE, -36
    .equ SLOT_TIME, -32
    .equ SLOT_TASK, 20
    .equ REGION_SEQUENCE, 8
    .equ REGION_DEVICE, 12
    .equ REGION_STORES, 16

    .equ BEGINNING, 1
    .equ BEGUN, 2
    .equ PARTS, 3                       @ the negative of PageIndex::parts
    .equ PSR_AIF, 0x1c0
    .equ PSR_MODE, 0x1f
    .equ MODE_SVC, 0x13
    .equ MATCH_UPPER, 0x120             @ makes DBGBCR.BAS of 0b0011 one of 0b1100
    .equ DSCR_MDBGEN, 0x8000
    .equ IL, 0x02000000
    .equ DEBUG_EVENT, 0x22              @ of a prefetch abort: EC 0x20, IFSC 0x22
    .equ ACCESS_WRITE, 1 << 16          @ Record::access in the word of its type
    .equ ACCESS_SIZE, 2 << 16

    .section .text.vectors, "ax"
    .balign 256
    .global guest_trap, mmioscope_fast_begin
mmioscope_fast_begin:
guest_trap:
    stm     sp, {r0-r12}
    ldmdb   sp, {r4-r11, pc}            @ masks, dispatch, pages, cpu, slot, header; and the handler

@ C++, on its stack: (Cpu&, Frame&).
    .macro call function
    mrc     p15, 4, r0, c13, c0, 2      @ HTPIDR: this CPU's Cpu
    mov     r1, sp
    mov     r4, sp
    ldr     sp, [sp, #FAST_STACK]
    bl      \function
    mov     sp, r4
    .endm

@ r4 to r6: what HSR and SPSR are asked for. The table has one entry for each size, direction and register: bits 23:16 of
@ HSR, and WnR in front of them. The chain of compares ends there, or at the slow path.
    .macro dispatch first, form
    mrs     r3, SPSR
    and     r0, r12, r4
    \first  r0, r5
    eor     r0, r3, \form
    tsteq   r0, r6
    and     r0, r12, #0x40
    add     r0, r12, r0, lsl #18
    ldreq   pc, [r7, r0, lsr #14]
    .endm

@ The guest may have moved its vectors, which does not trap.
    .macro compare_vectors
    mrc     p15, 0, r0, c1, c0, 0       @ SCTLR
    mrc     p15, 0, r1, c12, c0, 0      @ VBAR
    ldrd    r2, r3, [sp, #FAST_VECTORS]
    cmp     r0, r2
    cmpeq   r1, r3
    .endm

    .global mmioscope_fast_emulate, mmioscope_fast_step
mmioscope_fast_emulate:
    mrc     p15, 4, r12, c5, c2, 0      @ HSR
    dispatch cmp, #MODE_SVC
    b       slow_path

mmioscope_fast_step:
    compare_vectors
    mrc     p15, 4, r12, c5, c2, 0      @ HSR
    dispatch cmpeq, #MODE_SVC
    b       slow_path

@ Thumb state and User mode: the instruction has 2 or 4 bytes, and the rest is asked as of one of 4.
    .macro long_or_short
    mrc     p15, 4, r12, c5, c2, 0      @ HSR
    and     r0, r12, #IL
    lsr     r0, r0, #24
    add     r0, r0, #2
    str     r0, [sp, #FAST_LENGTH]
    orr     r12, r12, #IL
    .endm

    .global mmioscope_fast_emulate_form, mmioscope_fast_step_form
mmioscope_fast_emulate_form:
    long_or_short
    ldr     r1, [sp, #FAST_FORM]
    dispatch cmp, r1
    b       slow_path

mmioscope_fast_step_form:
    long_or_short
    compare_vectors
    ldr     r1, [sp, #FAST_FORM]
    dispatch cmpeq, r1
    .global mmioscope_fast_slow
mmioscope_fast_slow:
slow_path:
    str     lr, [sp, #FRAME_LR]
    mrs     r2, ELR_hyp
    mrs     r3, SPSR
    strd    r2, r3, [sp, #FRAME_PC]
    call    mmioscope_guest_trap
    .global return_to_guest
return_to_guest:                        @ sp: a Frame, in this CPU's state
    ldrd    r2, r3, [sp, #FRAME_PC]
    msr     ELR_hyp, r2
    msr     SPSR_cxsf, r3
    ldr     lr, [sp, #FRAME_LR]
    ldm     sp, {r0-r12}
    eret

@ With a stream: it has its turn at every sixth access only, since most of a turn costs the same for one record or six.
    .global mmioscope_fast_turn
mmioscope_fast_turn:
    ldr     r0, [sp, #FAST_TURN]
    subs    r0, r0, #1
    str     r0, [sp, #FAST_TURN]
    ldrne   pc, [sp, #FAST_AFTER_LOOK]
@ The readers' words are looked at, or the stream has its turn, before the access: what that needs is loaded again.
    .global mmioscope_fast_look
mmioscope_fast_look:
    str     lr, [sp, #FRAME_LR]
    call    mmioscope_look_ahead
    ldr     lr, [sp, #FRAME_LR]
    sub     r0, sp, #4
    ldmdb   r0, {r4-r11}
    ldr     pc, [sp, #FAST_AFTER_LOOK]

@ Where tasks have names: is it time to look at this one's (trap/task_name.cpp)?
    .global mmioscope_fast_names
mmioscope_fast_names:
    mrc     p15, 0, r0, c13, c0, 3      @ TPIDRURO
    ldr     r1, [sp, #FAST_TASK]
    cmp     r0, r1
    bne     slow_path
    mrrc    p15, 0, r0, r1, c14         @ CNTPCT
    ldrd    r2, r3, [sp, #FAST_NEXT_LOOK]
    subs    r0, r0, r2
    sbcs    r0, r1, r3
    bhs     slow_path
    ldr     pc, [sp, #FAST_ACCESS]

@ r4 = va, r5 = HPFAR, r7 = the lock of the region, which is taken. `align`: address bits that must be zero.
    .macro claim align
    str     r3, [sp, #FAST_PSR]
    mrc     p15, 4, r4, c6, c0, 0       @ HDFAR
    mrc     p15, 4, r5, c6, c0, 4       @ HPFAR
    lsr     r0, r5, #14
    ldr     r0, [r8, r0, lsl #2]
    ubfx    r1, r5, #4, #10
    ldr     r7, [r0, r1, lsl #2]
    tst     r4, #\align                 @ BEHIND_LOOKUP
    ldrexeq r0, [r7]
    cmneq   r0, #1                      @ Lock::no_owner
    strexeq r0, r9, [r7]
    cmpeq   r0, #0
    bne     not_taken
    .endm
    .equ BEHIND_LOOKUP, 7 * 4

@ Another CPU has it, the access is not aligned, nothing is there: or the page has several parts. Then the part's lock is
@ looked up, and the same way gone again from there.
not_taken:
    clrex                               @ the guest must not have the monitor of this LDREX (ARM ARM A3.4.5)
    ldr     r0, [r7], #4
    cmn     r0, #PARTS
    bne     slow_path
    ubfx    r1, r4, #6, #6              @ which 64 bytes of the page
    ldr     r7, [r7, r1, lsl #2]
    ldr     r2, [sp, #FAST_DISPATCH]
    and     r0, r12, #0x40
    add     r0, r12, r0, lsl #18
    ldr     r0, [r2, r0, lsr #14]
    add     pc, r0, #BEHIND_LOOKUP

@ r1 = pc, r5 = pa, r8, r9 = time, and all that is known in the slot and on the mark. The one DSB is the lock's acquire, and
@ before the clock (as RingWriter::begin). The slot's old commit word is gone before anything is written behind it.
    .macro begin access
    str     r0, [r11, #SLOT_COMMIT]     @ 0, as STREX has said
    mov     r0, #BEGINNING
    mrs     r1, ELR_hyp
    strd    r0, r1, [r10, #RING_IN_FLIGHT]
    dsb     ish
    isb
    mrrc    p15, 0, r8, r9, c14         @ CNTPCT
    ldr     r0, [r7, #REGION_DEVICE]
    cmp     r0, #0
    blt     not_fast
    mrs     r2, LR_svc
    mrs     r3, SP_svc
    lsl     r5, r5, #8
    bfi     r5, r4, #0, #12
    mrc     p15, 0, r6, c13, c0, 3      @ TPIDRURO
    stm     r11, {r1-r6}                @ pc, lr, sp, va, pa, task
    strd    r8, r9, [r11, #SLOT_TIME]
    strd    r8, r9, [r10, #RING_IN_FLIGHT_TIME]
    str     r5, [r10, #RING_IN_FLIGHT_PA]
    ldr     r0, [sp, #FAST_TYPE]
    add     r0, r0, #\access
    str     r0, [r11, #SLOT_TYPE]
    dmb     ish
    mov     r2, #BEGUN
    str     r2, [r10, #RING_IN_FLIGHT]
    .endm

@ What is recorded of this region has changed: a filter, or no longer traced.
not_fast:
    mov     r0, #0
    str     r0, [r10, #RING_IN_FLIGHT]
    mvn     r0, #0
    str     r0, [r7]                    @ nothing was done under it
    b       slow_path

@ A load-exclusive's reservation ends where a store came between (machine/reservation.hpp).
    .macro count_store
    ubfx    r2, r5, #3, #4
    add     r2, r7, r2, lsl #2
    ldr     r3, [r2, #REGION_STORES]
    add     r3, r3, #1
    str     r3, [r2, #REGION_STORES]
    .endm

@ The guest's register that the load or store names.
    .macro stored_value to, cut:vararg
    ubfx    r0, r12, #16, #4
    ldr     \to, [sp, r0, lsl #2]
    \cut
    .endm

@ r0 = duration, r2 = sequence, r4 = value, r5 = 0, r7 = region, r11 = slot: the record is whole, published, and the lock
@ given back.
    .macro commit
    ldr     r1, [r7, #REGION_SEQUENCE]
    add     r1, r1, #1
    str     r1, [r7, #REGION_SEQUENCE]
    ldr     r3, [r7, #REGION_DEVICE]
    stmdb   r11, {r0-r5}                @ duration, lock_sequence, cpu_sequence, device, value
    ldrd    r8, r9, [sp, #FAST_COMMIT]
    add     r8, r8, r2
    add     r3, r9, r2
    add     r2, r2, #1
    dmb     ish
    str     r8, [r11, #SLOT_COMMIT]
    dmb     ish
    strd    r2, r3, [r10, #RING_NEXT]   @ next_sequence, head
    str     r2, [sp, #FAST_SEQUENCE]
    ldr     r3, [sp, #FAST_READY]
    add     r2, r11, #64
    tst     r2, #0xfc0                  @ once in 64 records the readers' words are looked at
    ldreq   r3, [sp, #FAST_LOOK]
    strd    r2, r3, [sp, #FAST_SLOT]    @ and the handler
    dmb     ish
    str     r5, [r10, #RING_IN_FLIGHT]
    mvn     r0, #0                      @ Lock::no_owner
    str     r0, [r7]
    ldm     sp, {r0-r12}
    eret
    .endm

@ Emulation: Hyp makes the access itself.
    .macro done_at                      @ r0 = duration; on the bus it is done
    dsb
    isb
    mrrc    p15, 0, r2, r3, c14         @ CNTPCT
    sub     r0, r2, r8
    .endm

    .macro emulate_load name, align, access, load, deliver:vararg
\name:
    claim   \align
    begin   \access
    \load   r4, [r5]
    done_at
    \deliver
    b       emulated
    .endm

    .macro emulate_store name, align, access, store, value:vararg
\name:
    claim   \align
    begin   \access + ACCESS_WRITE
    count_store
    \value
    \store  r4, [r5]
    done_at
    b       emulated
    .endm

    .macro to_register
    ubfx    r2, r12, #16, #4
    str     r4, [sp, r2, lsl #2]
    .endm

emulated:
    ldrd    r2, r3, [sp, #FAST_SEQUENCE]
    add     r1, r1, r3
    msr     ELR_hyp, r1
    mov     r5, #0
    commit

    emulate_load    load_byte, 0, 0, ldrb, to_register
    emulate_load    load_halfword, 1, ACCESS_SIZE, ldrh, to_register
    emulate_load    load_word, 3, 2 * ACCESS_SIZE, ldr, to_register
    emulate_load    load_word_lr, 3, 2 * ACCESS_SIZE, ldr, msr LR_svc, r4
    emulate_store   store_byte, 0, 0, strb, stored_value r4, uxtb r4, r4
    emulate_store   store_halfword, 1, ACCESS_SIZE, strh, stored_value r4, uxth r4, r4
    emulate_store   store_word, 3, 2 * ACCESS_SIZE, str, stored_value r4
    emulate_store   store_word_lr, 3, 2 * ACCESS_SIZE, str, mrs r4, LR_svc

@ The bus has answered with an error (entry/vectors.S): the record says so, and the guest takes it.
    .global mmioscope_fast_aborted
mmioscope_fast_aborted:
    add     r0, sp, #FAST_STEP
    stm     r0, {r1, r4, r5, r7, r8, r9, r12}
    str     lr, [sp, #FRAME_LR]
    mov     r2, r1
    ldr     r3, [sp, #FAST_PSR]
    strd    r2, r3, [sp, #FRAME_PC]
    call    mmioscope_access_aborted
    b       return_to_guest

@ Shadow: the guest executes the instruction itself, on its shadow table (engine/reexecution.hpp), and traps behind it.
    .macro step_load name, align, access, finish
\name:
    claim   \align
    begin   \access
    ldr     r0, =\finish
    ldr     pc, [sp, #FAST_OPEN]
    .endm

    .macro step_store name, align, access, value:vararg
\name:
    claim   \align
    begin   \access + ACCESS_WRITE
    count_store
    \value
    str     r2, [sp, #FAST_VALUE]
    ldr     r0, =finish_store
    ldr     pc, [sp, #FAST_OPEN]
    .endm

@ Thumb state, and User mode, whose records have its own LR and SP, and SP_svc for a task.
    .global mmioscope_fast_open, mmioscope_fast_open_form
mmioscope_fast_open_form:
    str     r0, [sp, #FAST_HANDLER]
    ldr     r2, [sp, #FAST_LENGTH]
    add     r1, r1, r2
    bic     r2, r1, #3
    mcr     p14, 0, r2, c0, c0, 4       @ DBGBVR0
    ldr     r2, [sp, #FAST_MATCH]
    tst     r1, #2
    addne   r2, r2, #MATCH_UPPER
    mcr     p14, 0, r2, c0, c0, 5       @ DBGBCR0
    ldr     r2, [sp, #FAST_PSR]
    tst     r2, #PSR_MODE & ~0x10
    bne     open_armed
    mov     r2, lr
    mrs     r3, SP_usr
    mrs     r6, SP_svc
    stmib   r11, {r2, r3}
    str     r6, [r11, #SLOT_TASK]
    b       open_armed

mmioscope_fast_open:                    @ ARM state and SVC mode
    str     r0, [sp, #FAST_HANDLER]
    add     r1, r1, #4
    mcr     p14, 0, r1, c0, c0, 4       @ DBGBVR0; its DBGBCR0 and the vectors' are set
open_armed:
    add     r0, sp, #FAST_STEP
    stm     r0, {r1, r4, r5, r7, r8, r9, r12}
    mrc     p14, 0, r2, c0, c2, 2       @ DBGDSCRext
    orr     r3, r2, #DSCR_MDBGEN
    mcr     p14, 0, r3, c0, c2, 2
    str     r2, [sp, #FAST_DSCR]
    ldrd    r2, r3, [sp, #FAST_HDCR_STEP]
    mcr     p15, 4, r2, c1, c1, 1       @ HDCR
    mcr     p15, 4, r3, c1, c1, 3       @ HSTR
    ldr     r0, [sp, #FAST_PSR]
    orr     r0, r0, #PSR_AIF
    msr     SPSR_cxsf, r0
    ldrd    r2, r3, [sp, #FAST_SHADOW]
    mcrr    p15, 6, r2, r3, c2          @ VTTBR; the order is that of mm/guest_view.hpp
    isb
    mcr     p15, 0, r0, c8, c7, 0       @ TLBIALL
    dsb     nsh
    ldm     sp, {r0-r12}
    eret

    step_load       step_load_byte, 0, 0, finish_word
    step_load       step_load_halfword, 1, ACCESS_SIZE, finish_word
    step_load       step_load_word, 3, 2 * ACCESS_SIZE, finish_word
    step_load       step_load_word_lr, 3, 2 * ACCESS_SIZE, finish_lr
    step_store      step_store_byte, 0, 0, stored_value r2, uxtb r2, r2
    step_store      step_store_halfword, 1, ACCESS_SIZE, stored_value r2, uxth r2, r2
    step_store      step_store_word, 3, 2 * ACCESS_SIZE, stored_value r2
    step_store      step_store_word_lr, 3, 2 * ACCESS_SIZE, mrs r2, LR_svc

@ r4 = what the load has left in its register.
    .macro stepped value:vararg
    add     r0, sp, #FAST_STEP
    ldm     r0, {r1, r2, r3, r7, r8, r9, r12}
    \value
    .endm

    .global mmioscope_fast_finish, mmioscope_fast_finish_end
mmioscope_fast_finish:
finish_lr:
    stepped mrs r4, LR_svc
    b       finish
finish_store:
    stepped ldr r4, [sp, #FAST_VALUE]
    b       finish
finish_word:
    stepped stored_value r4
mmioscope_fast_finish_end:

@ It ended as planned if the breakpoint behind the instruction was hit, in the same mode; else it is the slow path's.
finish:
    mrc     p15, 4, r0, c5, c2, 0       @ HSR
    bic     r0, r0, #IL
    eor     r0, r0, #0x80000000         @ a prefetch abort
    cmp     r0, #DEBUG_EVENT
    mrs     r2, ELR_hyp
    cmpeq   r2, r1
    mrs     r3, SPSR
    ldr     r2, [sp, #FAST_PSR]
    eor     r0, r3, r2
    tsteq   r0, #PSR_MODE
    bne     slow_path
    ldrd    r0, r1, [sp, #FAST_NORMAL]
    mcrr    p15, 6, r0, r1, c2          @ VTTBR
    isb
    mcr     p15, 0, r0, c8, c7, 0       @ TLBIALL
    dsb                                 @ for both: the TLB, and the access is done on the bus
    isb
    mrrc    p15, 0, r0, r1, c14         @ CNTPCT
    sub     r0, r0, r8
    ldrd    r8, r9, [sp, #FAST_DSCR]
    mcr     p14, 0, r8, c0, c2, 2       @ DBGDSCRext
    mcr     p15, 4, r9, c1, c1, 1       @ HDCR
    mov     r5, #0
    mcr     p15, 4, r5, c1, c1, 3       @ HSTR
    bic     r3, r3, #PSR_AIF
    and     r2, r2, #PSR_AIF
    orr     r3, r3, r2
    msr     SPSR_cxsf, r3
    ldr     r2, [sp, #FAST_SEQUENCE]
    commit

    .section .rodata.fast_path, "a"
    .balign 4
@ By size, word twice with LR; then stores (trap/fast_path.cpp).
    .global mmioscope_fast_emulations, mmioscope_fast_steps
mmioscope_fast_emulations:
    .word   load_byte, load_halfword, load_word, load_word_lr
    .word   store_byte, store_halfword, store_word, store_word_lr
mmioscope_fast_steps:
    .word   step_load_byte, step_load_halfword, step_load_word, step_load_word_lr
    .word   step_store_byte, step_store_halfword, step_store_word, step_store_word_lr

    .previous
    .ltorg
    .balign 256
    .global mmioscope_fast_end
mmioscope_fast_end:
