// A symbol as in nm, System.map and /proc/kallsyms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::symbols {

struct Symbol {
    std::uint32_t address = 0;
    char type = 't'; ///< as in nm: t and T text, w and W weak, d data ...
    std::string name;
    std::string module; ///< empty: the kernel itself

    bool operator==(const Symbol&) const = default;
};

using SymbolList = std::vector<Symbol>;

/// Limit for one file or kernel; a stock kernel has 50,000.
inline constexpr std::size_t max_symbols = 4u << 20;
inline constexpr std::size_t max_name = 1024; ///< limit in characters

/// Larger than any function of a kernel, in bytes.
inline constexpr std::uint32_t max_function_size = 64u << 10;

/// Symbols of the linker and the assembler inside functions.
inline bool is_mark(std::string_view name) {
    return name.starts_with("$") || name.starts_with(".L");
}

/// In some versions the ends of the kernel's text have a function's type.
inline bool is_function(const Symbol& symbol) {
    constexpr std::string_view types = "tTwW";
    return types.find(symbol.type) != std::string_view::npos && symbol.name != "_etext" &&
           symbol.name != "_einittext";
}

} // namespace mmioscope::symbols
