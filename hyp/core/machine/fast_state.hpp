// The words from which entry/fast_path.S takes everything it needs; it tests no options. The slow
// path sets them when it ends (trap/fast_path.cpp), and resets them when it begins.
#pragma once

#include "entry/frame.hpp"

namespace mmioscope {

/// Only 32-bit words, also for addresses, so that the simulated machine has the same layout. While
/// the guest runs, SP_hyp points to `frame`; the nine words before it are loaded by one LDM.
struct alignas(64) FastState {
    std::uint32_t reserved0[7];
    std::uint32_t hsr_mask;  ///< these bits of HSR must equal
    std::uint32_t hsr_plain; ///< those of this word
    std::uint32_t psr_mask;  ///< these bits of the guest's PSR must equal those of `form`
    std::uint32_t dispatch;  ///< Machine::fast_dispatch, biased so that HSR's bits 31:14 index it
    std::uint32_t pages;     ///< PageIndex::table()
    std::uint32_t cpu;       ///< the CPU's number, as the owner of a lock
    std::uint32_t header;    ///< address of the ring header's line with `head`
    std::uint32_t slot;      ///< address of the next record's `pc`
    std::uint32_t handler;   ///< address of the next trap's code
    Frame frame;
    std::uint32_t sequence;  ///< cpu_sequence of the next record
    std::uint32_t length;    ///< of the instruction, 2 or 4 bytes; always 4 in ARM state
    std::uint32_t commit;    ///< commit word minus cpu_sequence
    std::uint32_t head;      ///< head after the record (lower word) minus cpu_sequence
    std::uint32_t ready;     ///< value of `handler` after an access
    std::uint32_t look;      ///< value of `handler` once in abi::looks_ahead records
    std::uint32_t stack;     ///< SP_hyp for C++
    std::uint32_t type;      ///< type, cpu, access and mode of a record, without direction and size
    std::uint32_t sctlr;     ///< the guest's, for which the vectors' breakpoints are set
    std::uint32_t vbar;      ///< as sctlr
    std::uint64_t shadow;    ///< VTTBR
    std::uint64_t normal;    ///< VTTBR
    std::uint32_t hdcr_step; ///< HDCR while a step is armed
    std::uint32_t hstr_step; ///< HSTR while a step is armed
    std::uint32_t dscr;      ///< DBGDSCR before the step
    std::uint32_t hdcr_between; ///< HDCR at all other times
    std::uint32_t psr;          ///< SPSR at the trap of the access
    std::uint32_t value;        ///< the value that a stepped store stores
    std::uint32_t next_pc; ///< of a step: where its breakpoint is; of an aborted access: its pc
    std::uint32_t va;
    std::uint32_t pa;
    std::uint32_t region; ///< address of the RegionLock, which is held
    std::uint64_t time;
    std::uint32_t hsr;        ///< HSR at the trap of the access, with IL set
    std::uint32_t form;       ///< mode and T bit of the accesses that the fast path takes
    std::uint64_t next_look;  ///< CNTPCT at which the name of `task` is looked up again
    std::uint32_t task;       ///< TPIDRURO of the task whose name is known until then
    std::uint32_t access;     ///< address of the engine's code for an access
    std::uint32_t after_look; ///< address of the code after a look
    std::uint32_t open;       ///< address of the code that arms a step
    std::uint32_t match;      ///< DBGBCR0 of a step that ends in the lower half of a word
    std::uint32_t turn;       ///< accesses until the stream's next turn
    std::uint32_t reserved1[12];
};
static_assert(offsetof(FastState, handler) == 60 && offsetof(FastState, frame) == 64);
// Offsets from `frame`, as in entry/fast_path.S.
static_assert(offsetof(FastState, slot) == 64 - 8 && offsetof(FastState, dispatch) == 64 - 24);
static_assert(offsetof(FastState, sequence) == 64 + 64 && offsetof(FastState, length) == 64 + 68);
static_assert(offsetof(FastState, commit) == 64 + 72 && offsetof(FastState, form) == 64 + 172);
static_assert(offsetof(FastState, open) == 64 + 196 && offsetof(FastState, match) == 64 + 200);
static_assert(offsetof(FastState, turn) == 64 + 204);
static_assert(offsetof(FastState, ready) == 64 + 80 && offsetof(FastState, look) == 64 + 84);
static_assert(offsetof(FastState, stack) == 64 + 88 && offsetof(FastState, type) == 64 + 92);
static_assert(offsetof(FastState, sctlr) == 64 + 96 && offsetof(FastState, shadow) == 64 + 104);
static_assert(offsetof(FastState, normal) == 64 + 112 && offsetof(FastState, dscr) == 64 + 128);
static_assert(offsetof(FastState, hdcr_step) == 64 + 120 && offsetof(FastState, psr) == 64 + 136);
static_assert(offsetof(FastState, value) == 64 + 140 && offsetof(FastState, next_pc) == 64 + 144);
static_assert(offsetof(FastState, time) == 64 + 160 && offsetof(FastState, hsr) == 64 + 168);
static_assert(offsetof(FastState, next_look) == 64 + 176 && offsetof(FastState, task) == 64 + 184);
static_assert(offsetof(FastState, access) == 64 + 188);
static_assert(offsetof(FastState, after_look) == 64 + 192 && sizeof(FastState) == 320);

} // namespace mmioscope
