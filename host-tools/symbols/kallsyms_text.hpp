// Lists of symbols as text, as /proc/kallsyms and System.map have them.
#pragma once

#include "symbols/symbol.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::symbols {

/// Lines of `address type name`, and `[module]` behind that or not, all plain text. Throws Error
/// (bad_input) that names the line, not the file; also if the kernel hid the addresses.
SymbolList read_kallsyms(std::string_view text);

/// One such line; nothing if it is none.
std::optional<Symbol> read_symbol(std::string_view line);

/// The same, written; names that are not plain are left out.
std::string kallsyms_text(std::span<const Symbol> symbols);

} // namespace mmioscope::symbols
