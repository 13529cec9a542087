// Reads the symbols in a kernel's image: the tables behind /proc/kallsyms (scripts/kallsyms.c of
// Linux).
//
// Nothing in an image says where the tables are. They are found by their properties: the table of
// 256 tokens has each digit as a separate token, and is followed by an index of 256 ascending
// offsets; the number of symbols is the word before that many names, which fill the bytes up to
// markers with the offset of each 256th name. In 32-bit kernels, all aligned to 4 bytes:
//
//   up to 6.1  offsets relative_base num_syms names markers token_table token_index
//   6.1.y, 6.2 the same, and after the markers 3 bytes per symbol: the order of the names
//   from 6.4   num_syms names markers token_table token_index offsets relative_base order
//
// Without CONFIG_KALLSYMS_BASE_RELATIVE there are addresses instead of offsets, and no base. A name
// is a length and that many tokens; its first character is the type. Lengths of 128 and more take
// two bytes since 6.1.
#pragma once

#include "symbols/symbols.hpp"

#include <cstddef>
#include <span>

namespace mmioscope::symbols {

/// The symbols of `image`, a running kernel's memory, sorted by address; empty if there are no such
/// tables. `image` may contain anything.
SymbolList read_tables(std::span<const std::byte> image);

} // namespace mmioscope::symbols
