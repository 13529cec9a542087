// Lists of symbols as text, as in /proc/kallsyms and System.map.
#pragma once

#include "symbols/symbol.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::symbols {

/// Parses lines of `address type name`, optionally followed by `[module]`, all plain text. Throws
/// Error (bad_input) that names the line, not the file; also if the kernel hid the addresses.
SymbolList read_kallsyms(std::string_view text);

/// Parses one such line; nothing if it is not one.
std::optional<Symbol> read_symbol(std::string_view line);

/// Such lines for `symbols`, except names that are not plain.
std::string kallsyms_text(std::span<const Symbol> symbols);

} // namespace mmioscope::symbols
