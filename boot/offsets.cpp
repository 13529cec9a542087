// What entry/fast_path.S knows of C++: offsets and values, which the compiler writes into the
// assembly that it makes of this file. The Makefile takes the `.equ` lines from there.
#include "abi/ring.hpp"
#include "arch/debug.hpp"
#include "arch/hsr.hpp"
#include "arch/psr.hpp"
#include "machine/fast_state.hpp"
#include "mm/page_index.hpp"
#include "trace/region_lock.hpp"

namespace mmioscope {

namespace {

#define EQU(name, value) asm volatile(".equ " #name ", %c0" ::"i"(value))
#define FAST(name, member)                                                                         \
    EQU(name, int(offsetof(FastState, member)) - int(offsetof(FastState, frame)))
#define RING(name, member)                                                                         \
    EQU(name, offsetof(abi::RingHeader, member) - offsetof(abi::RingHeader, others))
#define SLOT(name, member)                                                                         \
    EQU(name, int(offsetof(abi::Record, member)) - int(offsetof(abi::Record, pc)))

[[gnu::used]] void offsets() {
    FAST(FAST_DISPATCH, dispatch);
    FAST(FAST_SLOT, slot); // then handler
    FAST(FAST_HANDLER, handler);
    FAST(FAST_SEQUENCE, sequence); // then length
    FAST(FAST_LENGTH, length);
    FAST(FAST_COMMIT, commit); // then head
    FAST(FAST_READY, ready);
    FAST(FAST_RESERVE, reserve);
    FAST(FAST_STACK, stack);
    FAST(FAST_SCTLR, sctlr);
    FAST(FAST_SHADOW, shadow);
    FAST(FAST_NORMAL, normal);
    FAST(FAST_DSCR_STEP, dscr_step); // then hstr_step
    FAST(FAST_DSCR, dscr);           // then hstr
    FAST(FAST_PSR, psr);
    FAST(FAST_VALUE, value);
    FAST(FAST_STEP, next_pc); // then va, pa, region, time, hsr
    FAST(FAST_PSR_PLAIN, psr_plain);
    FAST(FAST_NEXT_LOOKUP, next_lookup);
    FAST(FAST_TASK, task);
    FAST(FAST_ACCESS, access);
    FAST(FAST_AFTER_RESERVE, after_reserve);
    FAST(FAST_OPEN, open);
    FAST(FAST_MATCH, match);
    FAST(FAST_WORK_IN, work_in);
    FAST(FAST_TYPES, types);
    EQU(FRAME_LR, offsetof(Frame, lr_usr));
    EQU(FRAME_PC, offsetof(Frame, pc)); // then psr

    RING(RING_NEXT, next_sequence);
    RING(RING_HEAD, head); // then in_flight
    RING(RING_IN_FLIGHT, in_flight);
    SLOT(SLOT_COMMIT, commit); // then type
    SLOT(SLOT_TIME, time);
    SLOT(SLOT_TASK, task);
    EQU(SLOT_SIZE, sizeof(abi::Record));
    EQU(RESERVE_MASK, (abi::reserve_batch - 1) * sizeof(abi::Record));

    EQU(REGION_SEQUENCE, offsetof(Owner, sequence));
    EQU(REGION_DEVICE, offsetof(Owner, device));
    EQU(REGION_STORES, offsetof(Owner, stores));
    EQU(SUBPAGES, 0 - PageIndex::split);
    EQU(FIRST_STORE, first_store);

    EQU(PSR_AIF, arch::psr_aif);
    EQU(PSR_MODE, arch::psr_mode);
    EQU(MODE_SVC, arch::Mode::svc);
    EQU(MODE_USR, arch::Mode::usr);
    EQU(MATCH_UPPER, arch::address_match(2, true) - arch::address_match(0, true));
    EQU(IL, bit(25)); // of HSR
    EQU(DEBUG_EVENT, arch::Hsr::debug_status);
    EQU(PREFETCH_ABORT, std::uint32_t(arch::ExceptionClass::prefetch_abort) << 26);
}

} // namespace

} // namespace mmioscope
