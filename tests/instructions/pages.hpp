// The pages that the cases access, adjacent as listed in place.py, and the code they run from.
#pragma once

#include "cases.hpp"

namespace instructions {

inline constexpr u32 pages_begin = 0x4000'0000;

void map_pages();

/// The words that a case may have changed, and one or two on both sides.
struct Words {
    u32 begin;
    u32 end;
};
Words words_of(const Case& c);
/// Whether it is a register or memory word without other effects.
bool is_writable(u32 address);
/// The value of a word before each case.
u32 seed(u32 address);
/// Writes the seeds, and the values that the case needs.
void prepare_words(const Case& c);

/// Writes the case's code, followed by breakpoint instructions. Returns its address.
u32 place_code(const Case& c);
inline constexpr u32 code_space = 48; ///< from the instruction on

} // namespace instructions
