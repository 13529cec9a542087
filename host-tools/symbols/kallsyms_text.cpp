#include "symbols/kallsyms_text.hpp"

#include "symbols/words.hpp"
#include "system/error.hpp"
#include "system/plain_text.hpp"

#include <algorithm>
#include <optional>

namespace mmioscope::symbols {

namespace {} // namespace

std::optional<Symbol> read_symbol(std::string_view line) {
    const std::optional<std::uint32_t> address = symbols::address(next_word(line));
    const std::string_view type = next_word(line);
    const std::string_view name = next_word(line);
    const std::string_view module = next_word(line);
    const bool named = module.size() > 2 && module.front() == '[' && module.back() == ']';
    const bool plain =
        is_plain_word(type) && is_plain_word(name) && (module.empty() || is_plain_word(module));
    if (!address || type.size() != 1 || !plain || !(module.empty() || named) || !is_blank(line)) {
        return std::nullopt;
    }
    return Symbol{*address, type[0], std::string(name),
                  std::string(named ? module.substr(1, module.size() - 2) : module)};
}

SymbolList read_kallsyms(std::string_view text) {
    if (std::count(text.begin(), text.end(), '\n') > static_cast<std::ptrdiff_t>(max_symbols)) {
        throw bad_input("it has more than {} lines of symbols", max_symbols);
    }
    SymbolList symbols;
    for (std::size_t count = 1; !text.empty(); ++count) {
        const std::string_view line = next_line(text);
        if (is_blank(line)) {
            continue;
        }
        std::optional<Symbol> symbol = read_symbol(line);
        if (!symbol) {
            std::string_view rest = line;
            const bool wide = next_word(rest).size() == 16;
            throw bad_input("line {} is not a symbol (address type name [module]){}", count,
                            wide ? ": of 64-bit addresses only those of x86-64 kernels are read"
                                 : "");
        }
        symbols.push_back(std::move(*symbol));
    }
    if (!symbols.empty() && std::all_of(symbols.begin(), symbols.end(),
                                        [](const Symbol& symbol) { return symbol.address == 0; })) {
        throw bad_input("all addresses are 0: the kernel shows them only to root");
    }
    return symbols;
}

std::string kallsyms_text(std::span<const Symbol> symbols) {
    fmt::memory_buffer text;
    for (const Symbol& symbol : symbols) {
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

} // namespace mmioscope::symbols
