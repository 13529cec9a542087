// The pages that the cases access, side by side as place.py lists them, and the code they run from.
#pragma once

#include "cases.hpp"

namespace instructions {

inline constexpr u32 pages_begin = 0x4000'0000;

void map_pages();

/// The words that a case can have changed, and one or two on both sides.
struct Words {
    u32 begin;
    u32 end;
};
Words words_of(const Case& c);
/// A register or memory word without other effects.
bool is_writable(u32 address);
/// What a word holds before a case.
u32 seed(u32 address);
/// Seeds, and what the case wants planted.
void prepare_words(const Case& c);

/// Puts the case's code in place, breakpoint instructions behind it. Where it begins.
u32 place_code(const Case& c);
inline constexpr u32 code_space = 48; ///< from the instruction on

} // namespace instructions
