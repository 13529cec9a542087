// Symbols as text, as in /proc/kallsyms.
#pragma once

#include "symbols/symbols.hpp"
#include "system/escape.hpp"

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <string>

namespace mmioscope::test {

/// Lines of `address type name`, with `[module]`; without names that are not plain.
inline std::string kallsyms_text(std::span<const symbols::Symbol> symbols) {
    fmt::memory_buffer text;
    for (const symbols::Symbol& symbol : symbols) {
        if (!is_plain_word(symbol.name)) {
            continue;
        }
        fmt::format_to(std::back_inserter(text), "{:08x} {} {}", symbol.address, symbol.type,
                       symbol.name);
        if (!symbol.module.empty()) {
            fmt::format_to(std::back_inserter(text), "\t[{}]", symbol.module);
        }
        text.push_back('\n');
    }
    return fmt::to_string(text);
}

} // namespace mmioscope::test
