// A case from generate.py, and the state before and after an instruction.
#pragma once

#include "platform.hpp"

#include <cstddef>

namespace instructions {

using guest::u32;
using guest::u8;

/// generate.py, entry().
struct Case {
    char name[40];
    u32 r[15];
    u32 cpsr;
    u32 spsr;    ///< of the mode, if it has one
    u32 user_sp; ///< of the User bank, if that is not the mode's
    u32 target;  ///< the lowest address accessed
    u32 slot;    ///< address of the instruction
    u32 plant[2];
    u8 length; ///< of the access, from target on
    u8 before; ///< bytes of `code` that come before the instruction
    u8 size;   ///< of the instruction
    u8 flags;
    u8 plant_offset;
    u8 plant_count;
    u8 unused[2];
    u8 code[20];
};
static_assert(sizeof(Case) == 156);
inline constexpr u8 interruptible = 1; ///< does not touch the interrupt controller
inline constexpr u8 show = 2;          ///< print the state, not only its sum

/// The registers visible to an instruction. run_case.S knows the offsets.
struct State {
    u32 r[16];
    u32 cpsr;
    u32 spsr;
    u32 fpscr;
    u32 user[7]; ///< r8 to r14 of the User bank
    u32 unused;
    u32 d[64];
};
static_assert(offsetof(State, user) == 76 && offsetof(State, d) == 108);

/// How an instruction ended.
enum class End : u32 { undefined, prefetch_abort, data_abort };

} // namespace instructions

extern "C" {
extern const instructions::Case cases_begin[], cases_end[];
/// Loads `state`, including PC, and runs until an exception comes. The state is then that at the
/// exception, with its PC.
instructions::End run_case(instructions::State* state);
/// The address to watch, and the number of interrupts before the instruction there.
extern guest::u32 watched_address, interrupts_there;
void start_vectors();
}
