// The words by which entry/fast_path.S does nearly every access, without asking anything else. The
// slow path sets them at its end (trap/fast_path.cpp), and takes them back before it does anything.
#pragma once

#include "entry/frame.hpp"

namespace mmioscope {

/// 32-bit words only, addresses too, so that the simulated machine has them at the same places.
/// SP_hyp is at `frame` while the guest runs: what is in front of it is loaded as one.
struct alignas(64) FastState {
    std::uint32_t reserved0[7];
    std::uint32_t hsr_mask;  ///< bits of HSR that must be those of
    std::uint32_t hsr_plain; ///< this one
    std::uint32_t psr_mask;  ///< bits of the guest's PSR that must be those of `form`
    std::uint32_t dispatch;  ///< Machine::fast_dispatch, so that bits 31:14 of HSR find the place
    std::uint32_t pages;     ///< PageIndex::table()
    std::uint32_t cpu;       ///< its number, as the owner of a lock
    std::uint32_t header;    ///< the ring's line of `head`
    std::uint32_t slot;      ///< the next record's `pc`
    std::uint32_t handler;   ///< where the next trap goes
    Frame frame;
    std::uint32_t sequence;     ///< Record::cpu_sequence of the next record
    std::uint32_t length;       ///< of the instruction, in bytes; in ARM state always 4
    std::uint32_t commit;       ///< what a commit word is more than the record's sequence
    std::uint32_t head;         ///< likewise the head behind it, its lower word
    std::uint32_t ready;        ///< `handler` behind an access
    std::uint32_t look;         ///< likewise, once in abi::looks_ahead records
    std::uint32_t stack;        ///< SP_hyp for C++
    std::uint32_t type;         ///< Record's type, cpu, access and mode; but direction and size
    std::uint32_t sctlr;        ///< the guest's, as the vectors' breakpoints have it
    std::uint32_t vbar;         ///< likewise
    std::uint64_t shadow;       ///< VTTBR
    std::uint64_t normal;       ///< VTTBR
    std::uint32_t hdcr_step;    ///< HDCR while a step is armed
    std::uint32_t hstr_step;    ///< HSTR likewise
    std::uint32_t dscr;         ///< of before the step
    std::uint32_t hdcr_between; ///< HDCR at all other times
    std::uint32_t psr;          ///< SPSR at the access's trap
    std::uint32_t value;        ///< what the step's store stores
    std::uint32_t next_pc; ///< of the step, where its breakpoint is; of an aborted access its pc
    std::uint32_t va;
    std::uint32_t pa;
    std::uint32_t region; ///< RegionLock, held
    std::uint64_t time;
    std::uint32_t hsr;        ///< of the access's trap, with IL set
    std::uint32_t form;       ///< the guest's PSR: mode and T of the accesses it takes
    std::uint64_t next_look;  ///< CNTPCT at which `task` is to be looked at
    std::uint32_t task;       ///< TPIDRURO that needs no look before
    std::uint32_t access;     ///< what the engine does with an access
    std::uint32_t after_look; ///< where a look goes on
    std::uint32_t open;       ///< where a step goes on to be armed
    std::uint32_t match;      ///< DBGBCR0 of a step, where it ends in the lower half of a word
    std::uint32_t turn;       ///< accesses up to the stream's next turn
    std::uint32_t reserved1[12];
};
static_assert(offsetof(FastState, handler) == 60 && offsetof(FastState, frame) == 64);
// From `frame`, as entry/fast_path.S names them.
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
