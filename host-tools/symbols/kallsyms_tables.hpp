// The symbols in a kernel's image: the tables behind /proc/kallsyms (scripts/kallsyms.c of Linux).
//
// Nothing in an image says where they are. They are found by what they must be: the table of 256
// tokens has each digit as a token of its own, and an index of 256 ascending offsets behind it; the
// number of symbols is the word in front of that many names, which fill the bytes up to markers
// that say where each 256th begins. In 32-bit kernels, all aligned to 4 bytes:
//
//   up to 6.1  offsets relative_base num_syms names markers token_table token_index
//   6.1.y, 6.2 the same, and behind the markers 3 bytes per symbol: the order of the names
//   from 6.4   num_syms names markers token_table token_index offsets relative_base order
//
// Without CONFIG_KALLSYMS_BASE_RELATIVE there are addresses in place of offsets, and no base. A
// name is a length and as many tokens; its first character is the type. Lengths of 128 and more
// take two bytes since 6.1.
#pragma once

#include "symbols/symbol.hpp"

#include <cstddef>
#include <span>

namespace mmioscope::symbols {

/// The symbols of `image`, a kernel as it runs, in the order of their addresses; empty if it has no
/// such tables. `image` may hold anything.
SymbolList read_tables(std::span<const std::byte> image);

} // namespace mmioscope::symbols
