// The words from which entry/fast_path.S takes everything it needs; it tests no options. The slow
// path sets them when it ends (trap/fast_path.cpp), and resets them when it begins.
#pragma once

#include "entry/frame.hpp"

namespace mmioscope {

inline constexpr unsigned fast_ways = 8;   ///< loads of 1, 2 and 4 bytes, of 4 bytes to LR; stores
inline constexpr unsigned first_store = 4; ///< among them

/// Only 32-bit words, also for addresses, so that the simulated machine has the same layout. While
/// the guest runs, SP_hyp points to `frame`; the nine words before it are loaded by one LDM.
struct alignas(64) FastState {
    std::uint32_t reserved0[7];
    std::uint32_t hsr_mask;  ///< these bits of HSR must equal
    std::uint32_t hsr_plain; ///< those of this word
    std::uint32_t psr_mask;  ///< these bits of the guest's PSR must equal those of `psr_plain`
    std::uint32_t dispatch;  ///< Machine::fast_dispatch, biased so that HSR's bits 31:14 index it
    std::uint32_t pages;     ///< PageIndex::table()
    std::uint32_t owner;     ///< the word of a lock that this CPU holds
    std::uint32_t header;    ///< address of the ring header's line with `head`
    std::uint32_t slot;      ///< address of the next record's `pc`
    std::uint32_t handler;   ///< address of the next trap's code
    Frame frame;
    std::uint32_t sequence;  ///< cpu_sequence of the next record
    std::uint32_t length;    ///< of the instruction, 2 or 4 bytes; always 4 in ARM state
    std::uint32_t commit;    ///< commit word minus cpu_sequence
    std::uint32_t head;      ///< head after the record (lower word) minus cpu_sequence
    std::uint32_t ready;     ///< value of `handler` after an access
    std::uint32_t reserve;   ///< value of `handler` once in abi::reserve_batch records
    std::uint32_t stack;     ///< SP_hyp for C++
    std::uint32_t sctlr;     ///< the guest's, for which the vectors' breakpoints are set
    std::uint64_t shadow;    ///< VTTBR
    std::uint64_t normal;    ///< VTTBR
    std::uint32_t dscr_step; ///< DBGDSCR in a step
    std::uint32_t hstr_step; ///< HSTR in a step
    std::uint32_t dscr;      ///< DBGDSCR between steps
    std::uint32_t hstr;      ///< HSTR between steps
    std::uint32_t psr;       ///< SPSR at the trap of the access
    std::uint32_t value;     ///< the value that a stepped store stores
    std::uint32_t next_pc;   ///< of a step: where its breakpoint is; of an aborted access: its pc
    std::uint32_t va;
    std::uint32_t pa;
    std::uint32_t region; ///< address of the Owner, which is held
    std::uint64_t time;
    std::uint32_t hsr;              ///< HSR at the trap of the access, with IL set
    std::uint32_t psr_plain;        ///< mode and T bit of the accesses that the fast path takes
    std::uint64_t next_lookup;      ///< CNTPCT at which the name of `task` is looked up again
    std::uint32_t task;             ///< TPIDRURO of the task whose name is known until then
    std::uint32_t access;           ///< address of the engine's code for an access
    std::uint32_t after_reserve;    ///< address of the code behind `reserve`
    std::uint32_t open;             ///< address of the code that arms a step
    std::uint32_t match;            ///< DBGBCR0 of a step that ends in the lower half of a word
    std::uint32_t work_in;          ///< accesses until a service's next work
    std::uint32_t types[fast_ways]; ///< Record::type, cpu, access and mode, of each way
};
static_assert(offsetof(FastState, handler) + 4 == offsetof(FastState, frame));

} // namespace mmioscope
