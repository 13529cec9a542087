// The symbols of an ELF file.
#pragma once

#include "symbols/elf_sections.hpp"
#include "symbols/symbol.hpp"

namespace mmioscope::symbols {

/// Those in sections that are placed, by address; of those at one address a function before others,
/// a global one before a weak one, and that before a local one. Throws Error (bad_input) if their
/// names are too much for any kernel.
SymbolList elf_symbols(Elf* elf, const ElfSections& sections);

} // namespace mmioscope::symbols
