@ The fast path: from the guest's trap to its record and back, for nearly every access. It takes a
@ load or store of one register to a traced device, made by a kernel in SVC mode and ARM state;
@ after such an access on the slow path also one in Thumb state, and under shadow one of User mode.
@ hyp/README.md has a picture of it.
@
@ It tests no options. The slow path sets the words of machine/fast_state.hpp when it ends; if
@ anything is on that the fast path cannot do, `handler` is the slow path.
@
@   work, reserve, check_task   before an access, if needed: the stream, the ring's readers, task names
@   dispatch            HSR and SPSR select one of eight ways: load or store of a byte, halfword,
@                       word, or word in LR
@   claim               HPFAR: whose page is it? takes that region's lock, with one try
@   begin               in-flight mark, clock; what is known so far goes to the record's slot
@   emulation           Hyp's access
@   shadow              open: breakpoint, VTTBR = shadow, ERET; the guest's own access; its
@                       breakpoint leads to finish: VTTBR = normal, clock, breakpoint off
@   commit              the rest of the record, commit word, head, mark off, unlock, ERET
@
@ Whatever does not fit goes to slow_path, with the guest's registers saved.
@
@ SP_hyp points to FastState::frame, where the guest's registers are saved; the words for each trap
@ are before it, those for the access after it. Offsets come from C++ (boot/offsets.cpp).
@
@ Registers from `begin` on: r4 = va, r5 = pa, r7 = Owner, r8 and r9 = time, r10 = the ring
@ header's line of `head`, r11 = `pc` in the record's slot, r12 = HSR.

    .syntax unified
    .arch armv7ve
    .arm

#include "entry/offsets.inc"

    .equ PAR_FSTAGE, 0x200              @ of the 64-bit format, which Hyp gets (B4.1.112)

@ What C++ knows by this name (port/fast_code.hpp).
    .macro entry name
    .global mmioscope_fast_\name
mmioscope_fast_\name:
    .endm

    .section .text.vectors, "ax"
    .balign 256
    .global guest_trap, return_to_guest
@ The guest's trap (vectors.S). Saves r0 to r12 and LR, and loads r4 = hsr_mask, r5 = hsr_plain,
@ r6 = psr_mask, r7 = dispatch, r8 = pages, r9 = owner, r10 = header, r11 = slot, pc = handler.
guest_trap:
    stm     sp, {r0-r12, lr}
    ldmdb   sp, {r4-r11, pc}

@ Calls the C++ function(Cpu&, Frame&) on the C++ stack.
    .macro call function
    mrc     p15, 4, r0, c13, c0, 2      @ HTPIDR: this CPU's Cpu
    mov     r1, sp
    mov     r4, sp
    ldr     sp, [sp, #FAST_STACK]
    bl      \function
    mov     sp, r4
    .endm

@ Jumps to the way for this access if HSR (r12) and SPSR (r3) are as r4 to r6 require; otherwise
@ falls through, to the slow path. The table has an entry for each size, direction and register:
@ bits 23:16 of HSR, with WnR above them. `first` is cmp, or cmpeq after a compare whose result also
@ counts.
    .macro dispatch first, psr
    mrs     r3, SPSR
    and     r0, r12, r4
    \first  r0, r5
    eor     r0, r3, \psr
    tsteq   r0, r6
    and     r0, r12, #0x40
    add     r0, r12, r0, lsl #18
    ldreq   pc, [r7, r0, lsr #14]
    b       slow_path
    .endm

@ The flags say whether the guest's vectors are still where the step's breakpoints are: it may move
@ them without a trap by SCTLR, but not by VBAR (machine/debug_unit.hpp).
    .macro compare_vectors
    mrc     p15, 0, r0, c1, c0, 0       @ SCTLR
    ldr     r1, [sp, #FAST_SCTLR]
    cmp     r0, r1
    .endm

@ handler: emulation, SVC mode, ARM state.
    entry   emulate
    mrc     p15, 4, r12, c5, c2, 0      @ HSR
    dispatch cmp, #MODE_SVC

@ handler: shadow, SVC mode, ARM state.
    entry   step
    compare_vectors
    mrc     p15, 4, r12, c5, c2, 0      @ HSR
    dispatch cmpeq, #MODE_SVC

@ For Thumb state and User mode: notes the instruction's length, 2 or 4 bytes, and then treats it as
@ one of 4.
    .macro note_length
    mrc     p15, 4, r12, c5, c2, 0      @ HSR
    and     r0, r12, #IL
    lsr     r0, r0, #24
    add     r0, r0, #2
    str     r0, [sp, #FAST_LENGTH]
    orr     r12, r12, #IL
    .endm

    entry   emulate_other
    note_length
    ldr     r1, [sp, #FAST_PSR_PLAIN]
    dispatch cmp, r1

    entry   step_other
    note_length
    compare_vectors
    ldr     r1, [sp, #FAST_PSR_PLAIN]
    dispatch cmpeq, r1

@ handler: everything else, and where the fast path gives up. Saves the rest of the frame.
    entry   slow
slow_path:
    mrs     r2, ELR_hyp
    mrs     r3, SPSR
    strd    r2, r3, [sp, #FRAME_PC]
    call    mmioscope_guest_trap
return_to_guest:                        @ sp: a Frame, in this CPU's FastState
    ldrd    r2, r3, [sp, #FRAME_PC]
    msr     ELR_hyp, r2
    msr     SPSR_cxsf, r3
    ldr     lr, [sp, #FRAME_LR]
    ldm     sp, {r0-r12}
    eret

@ handler, with a stream: it works only at every sixth access, since most of its work
@ costs the same for one record as for six.
    entry   work
    ldr     r0, [sp, #FAST_WORK_IN]
    subs    r0, r0, #1
    str     r0, [sp, #FAST_WORK_IN]
    ldrne   pc, [sp, #FAST_AFTER_RESERVE]
@ handler, once in 64 records, or when the stream works: reads the readers' positions, or continues the
@ stream, before the access. Then loads the eight words again, which may have changed.
    entry   reserve
    call    mmioscope_reserve
    ldr     lr, [sp, #FRAME_LR]
    sub     r0, sp, #4
    ldmdb   r0, {r4-r11}
    ldr     pc, [sp, #FAST_AFTER_RESERVE]

@ handler, with task names: goes on unless it is time to look at the current task's name
@ (task_names/task_names.cpp).
    entry   check_task
    mrc     p15, 0, r0, c13, c0, 3      @ TPIDRURO
    ldr     r1, [sp, #FAST_TASK]
    cmp     r0, r1
    bne     slow_path
    mrrc    p15, 0, r0, r1, c14         @ CNTPCT
    ldrd    r2, r3, [sp, #FAST_NEXT_LOOKUP]
    subs    r0, r0, r2
    sbcs    r0, r1, r3
    bhs     slow_path
    ldr     pc, [sp, #FAST_ACCESS]

@ Sets r4 = va, r5 = HPFAR, r7 = the page's Owner from the index (mm/page_index.hpp), and takes
@ the lock. `align`: address bits that must be zero. not_taken returns to BEHIND_LOOKUP with another
@ r7. first_of_page looks whether an access at the first byte of a page has begun before it.
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
    cmpeq   r0, #0                      @ free, and not Lock::slow_only
    strexeq r0, r9, [r7]
    cmpeq   r0, #0
    bne     not_taken
    .if \align
    lsls    r1, r4, #20
    bleq    first_of_page
    .endif
    .endm
    .equ BEHIND_LOOKUP, 7 * 4

@ The lock is not free, or Lock::slow_only (a filter or trigger is on, or the device is no longer
@ traced); the access is not aligned; or the page has no lock: slow path. But if the page has several
@ parts, r7 leads to a table of their locks: looks up the part's lock and goes the
@ same way again from BEHIND_LOOKUP.
not_taken:
    clrex                               @ the guest must not get this LDREX's monitor (A3.4.5)
    ldr     r0, [r7], #4
    cmn     r0, #SUBPAGES
    bne     slow_path
    ubfx    r1, r4, #6, #6              @ index of the 64-byte part in the page
    ldr     r7, [r7, r1, lsl #2]
    ldr     r2, [sp, #FAST_DISPATCH]
    and     r0, r12, #0x40
    add     r0, r12, r0, lsl #18
    ldr     r0, [r2, r0, lsr #14]
    add     pc, r0, #BEHIND_LOOKUP

@ The lock is taken, and the address is the first byte of a page. If the page before cannot be
@ translated, no access has begun there, and the fast path goes on, with r0 as it was. Otherwise the
@ slow path looks at the instruction (trap/split.hpp), as it does if that page's own table is in a
@ page that traps (PAR.FSTAGE, B4.1.112). PAR is the guest's.
first_of_page:
    mov     r6, lr
    mrrc    p15, 0, r2, r3, c7          @ PAR
    sub     r1, r4, #1
    mcr     p15, 0, r1, c7, c8, 0       @ ATS1CPR: what User mode may read, PL1 may, too
    isb
    mrrc    p15, 0, r1, lr, c7
    mcrr    p15, 0, r2, r3, c7
    ldr     lr, [sp, #FRAME_LR]
    lsrs    r1, r1, #1                  @ PAR.F
    tstcs   r1, #PAR_FSTAGE >> 1
    moveq   pc, r6
    str     r0, [r7]                    @ unlock, with 0: nothing was done under the lock
    b       slow_path

@ Marks the access as in flight, reads the clock, and writes everything known to the slot, to which
@ the mark refers. Sets r1 = pc, r5 = pa, r8 and r9 = time. The slot's old commit word is cleared with
@ the first word that is written there: one STRD, which is single-copy atomic (A3.5.3). One DSB serves
@ as the lock's acquire and orders the mark before the clock and the slot's words (as
@ RingWriter::begin does).
    .macro begin way
    ldr     r1, [sp, #FAST_TYPES + 4 * (\way)]
    strd    r0, r1, [r11, #SLOT_COMMIT] @ STREX returned 0
    mrs     r1, ELR_hyp
    str     r9, [r10, #RING_IN_FLIGHT]  @ beginning
    dsb     ish
    isb
    mrrc    p15, 0, r8, r9, c14         @ CNTPCT
    mrs     r2, LR_svc
    mrs     r3, SP_svc
    lsl     r5, r5, #8
    bfi     r5, r4, #0, #12
    mrc     p15, 0, r6, c13, c0, 3      @ TPIDRURO
    stm     r11, {r1-r6}                @ pc, lr, sp, va, pa, task
    strd    r8, r9, [r11, #SLOT_TIME]
    dmb     ish
    str     r11, [r10, #RING_IN_FLIGHT] @ begun: abi::slot_mark()
    .endm

@ Counts the store, which ends reservations of load-exclusives (machine/reservation.hpp).
    .macro count_store
    ubfx    r2, r5, #3, #4
    add     r2, r7, r2, lsl #2
    ldr     r3, [r2, #REGION_STORES]
    add     r3, r3, #1
    str     r3, [r2, #REGION_STORES]
    .endm

@ Sets `to` to the value of the guest's register that HSR names; `cut` reduces it to the access's
@ size.
    .macro stored_value to, cut:vararg
    ubfx    r0, r12, #16, #4
    ldr     \to, [sp, r0, lsl #2]
    \cut
    .endm

@ Completes and publishes the record, ends the in-flight mark with the head, releases the lock, and
@ returns to the guest. Nothing orders the lock behind the head: who sees a later record of the device
@ first still sees this mark. Expects r0 = duration, r2 = cpu_sequence, r4 = value, r5 = 0, r7 = Owner, r11 = slot.
@ `advance` sets `slot` and `handler` for the next trap, which at multiples of 64 records looks at the
@ readers.
    .macro commit advance
    ldr     r1, [r7, #REGION_SEQUENCE]
    add     r1, r1, #1
    str     r1, [r7, #REGION_SEQUENCE]
    ldr     r3, [r7, #REGION_DEVICE]
    stmdb   r11, {r0-r5}                @ duration, lock_sequence, cpu_sequence, device, value
    ldrd    r8, r9, [sp, #FAST_COMMIT]
    add     r8, r8, r2
    add     r4, r9, r2
    add     r2, r2, #1
    dmb     ish
    str     r8, [r11, #SLOT_COMMIT]
    dmb     ish
    strd    r4, r5, [r10, #RING_HEAD]   @ the head, and no access in flight
    str     r2, [r10, #RING_NEXT]
    str     r2, [sp, #FAST_SEQUENCE]
    add     r2, r11, #SLOT_SIZE
    tst     r2, #RESERVE_MASK
    \advance
    str     r5, [r7]                    @ unlock
    ldm     sp, {r0-r12}
    eret
    .endm

@ Emulation: Hyp does the access.
    .macro done_at                      @ waits until it is done on the bus; r0 = duration
    dsb
    isb
    mrrc    p15, 0, r2, r3, c14         @ CNTPCT
    sub     r0, r2, r8
    .endm

    .macro emulate_load name, align, way, load, deliver:vararg
\name:
    claim   \align
    begin   \way
    \load   r4, [r5]
    done_at
    \deliver
    .ifnc   \name, load_word            @ the last one
    b       emulated
    .endif
    .endm

    .macro emulate_store name, align, way, store, value:vararg
\name:
    claim   \align
    begin   FIRST_STORE + \way
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

@ The handler stays what it is, except for `reserve`.
    .macro stay
    str     r2, [sp, #FAST_SLOT]
    beq     reserve_next
reserves_next:
    .endm

    emulate_load    load_byte, 0, 0, ldrb, to_register
    emulate_load    load_halfword, 1, 1, ldrh, to_register
    emulate_load    load_word_lr, 3, 3, ldr, msr LR_svc, r4
    emulate_store   store_byte, 0, 0, strb, stored_value r4, uxtb r4, r4
    emulate_store   store_halfword, 1, 1, strh, stored_value r4, uxth r4, r4
    emulate_store   store_word, 3, 2, str, stored_value r4
    emulate_store   store_word_lr, 3, 3, str, mrs r4, LR_svc
    emulate_load    load_word, 3, 2, ldr, to_register

@ PC goes to the next instruction; r2 = cpu_sequence, r3 = the instruction's length.
emulated:
    ldrd    r2, r3, [sp, #FAST_SEQUENCE]
    add     r1, r1, r3
    msr     ELR_hyp, r1
    mov     r5, #0
    commit  stay

reserve_next:
    ldr     r3, [sp, #FAST_RESERVE]
    str     r3, [sp, #FAST_HANDLER]
    b       reserves_next

@ entry/vectors.S comes here if the bus answers with an external abort: records it, and the guest
@ takes it.
    entry   aborted
    add     r0, sp, #FAST_STEP
    stm     r0, {r1, r4, r5, r7, r8, r9, r12}
    mov     r2, r1
    ldr     r3, [sp, #FAST_PSR]
    strd    r2, r3, [sp, #FRAME_PC]
    call    mmioscope_access_aborted
    b       return_to_guest

@ Shadow: opens the shadow table; the guest executes the instruction itself and traps after it
@ (engine/reexecution.cpp).
    .macro step_load name, align, way, finish
\name:
    claim   \align
    begin   \way
    ldr     r0, =\finish
    ldr     pc, [sp, #FAST_OPEN]
    .endm

    .macro step_store name, align, way, value:vararg
\name:
    claim   \align
    begin   FIRST_STORE + \way
    count_store
    \value
    str     r2, [sp, #FAST_VALUE]
    ldr     r0, =finish_store
    ldr     pc, [sp, #FAST_OPEN]
    .endm

@ Arms a step in Thumb state or User mode. A record of User mode has its LR and SP, and SP_svc for
@ the task.
    entry   open_other
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
    tst     r2, #PSR_MODE & ~MODE_USR
    bne     open_armed
    mov     r2, lr
    mrs     r3, SP_usr
    mrs     r6, SP_svc
    stmib   r11, {r2, r3}
    str     r6, [r11, #SLOT_TASK]
    b       open_armed

    entry   open                        @ ARM state and SVC mode
    str     r0, [sp, #FAST_HANDLER]
    add     r1, r1, #4
    mcr     p14, 0, r1, c0, c0, 4       @ DBGBVR0; its DBGBCR0 and the vectors' are already set
open_armed:
    add     r0, sp, #FAST_STEP
    stm     r0, {r1, r4, r5, r7, r8, r9, r12}
    ldrd    r2, r3, [sp, #FAST_DSCR_STEP]
    mcr     p14, 0, r2, c0, c2, 2       @ DBGDSCRext
    mcr     p15, 4, r3, c1, c1, 3       @ HSTR
    ldr     r0, [sp, #FAST_PSR]
    orr     r0, r0, #PSR_AIF
    msr     SPSR_cxsf, r0
    ldrd    r2, r3, [sp, #FAST_SHADOW]
    mcrr    p15, 6, r2, r3, c2          @ VTTBR; mm/guest_view.hpp has the order
    isb
    mcr     p15, 0, r0, c8, c7, 0       @ TLBIALL
    dsb     nsh
    ldm     sp, {r0-r12}
    eret

    step_load       step_load_byte, 0, 0, finish_word
    step_load       step_load_halfword, 1, 1, finish_word
    step_load       step_load_word, 3, 2, finish_word
    step_load       step_load_word_lr, 3, 3, finish_lr
    step_store      step_store_byte, 0, 0, stored_value r2, uxtb r2, r2
    step_store      step_store_halfword, 1, 1, stored_value r2, uxth r2, r2
    step_store      step_store_word, 3, 2, stored_value r2
    step_store      step_store_word_lr, 3, 3, mrs r2, LR_svc

@ handler, in a step, by the place of the value. Loads what open_armed has saved, and sets r4 = the
@ stored value, or what the load put in its register.
    .macro stepped value:vararg
    add     r0, sp, #FAST_STEP
    ldm     r0, {r1, r2, r3, r7, r8, r9, r12}
    \value
    .endm

    entry   finish
finish_lr:
    stepped mrs r4, LR_svc
    b       finish
finish_store:
    stepped ldr r4, [sp, #FAST_VALUE]
    b       finish
finish_word:
    stepped stored_value r4
    entry   finish_end

@ The handler of a step ends with it.
    .macro restore
    ldr     r3, [sp, #FAST_READY]
    ldreq   r3, [sp, #FAST_RESERVE]
    strd    r2, r3, [sp, #FAST_SLOT]    @ then the handler
    .endm

@ The step ended as planned if its breakpoint hit, and nothing of PSR has changed. Otherwise the slow
@ path ends the step, as it does in an IT block, whose ITSTATE advances. No other HSR without EC and IL
@ is DEBUG_EVENT: EC 0 does not come from the guest (HCR.TGE is 0).
finish:
    mrc     p15, 4, r0, c5, c2, 0       @ HSR
    bic     r0, r0, #PREFETCH_ABORT | IL
    cmp     r0, #DEBUG_EVENT
    mrs     r2, ELR_hyp
    cmpeq   r2, r1
    mrs     r3, SPSR
    ldr     r2, [sp, #FAST_PSR]
    orr     r0, r2, #PSR_AIF
    cmpeq   r0, r3
    bne     slow_path
    ldrd    r0, r1, [sp, #FAST_NORMAL]
    mcrr    p15, 6, r0, r1, c2          @ VTTBR
    isb
    mcr     p15, 0, r0, c8, c7, 0       @ TLBIALL
    dsb                                 @ completes both the invalidation and the access
    isb
    mrrc    p15, 0, r0, r1, c14         @ CNTPCT
    sub     r0, r0, r8
    ldrd    r8, r9, [sp, #FAST_DSCR]
    mcr     p14, 0, r8, c0, c2, 2       @ DBGDSCRext
    mcr     p15, 4, r9, c1, c1, 3       @ HSTR
    msr     SPSR_cxsf, r2
    mov     r5, #0
    ldr     r2, [sp, #FAST_SEQUENCE]
    commit  restore

    .ltorg
    .balign 256
    entry   end

    .section .rodata.fast_path, "a"
    .balign 4
@ By size, word twice (the second one for LR); loads, then stores (trap/fast_path.cpp).
    entry   emulations
    .word   load_byte, load_halfword, load_word, load_word_lr
    .word   store_byte, store_halfword, store_word, store_word_lr
    entry   steps
    .word   step_load_byte, step_load_halfword, step_load_word, step_load_word_lr
    .word   step_store_byte, step_store_halfword, step_store_word, step_store_word_lr
