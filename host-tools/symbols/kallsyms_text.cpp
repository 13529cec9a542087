#include "symbols/kallsyms_text.hpp"

#include "lib/error.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace mmioscope::symbols {

namespace {

constexpr std::string_view blanks = " \t\r";

// The first word of `line`, which is taken away.
std::string_view word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::string_view first = line.substr(0, line.find_first_of(blanks));
    line.remove_prefix(first.size());
    return first;
}

std::optional<Symbol> symbol_in(std::string_view line) {
    const std::string_view address = word(line);
    const std::string_view type = word(line);
    const std::string_view name = word(line);
    const std::string_view module = word(line);
    Symbol symbol{0, type.empty() ? '?' : type[0], std::string(name), {}};
    const auto [end, error] =
        std::from_chars(address.data(), address.data() + address.size(), symbol.address, 16);
    const bool named = module.size() > 2 && module.front() == '[' && module.back() == ']';
    if (error != std::errc() || end != address.data() + address.size() || type.size() != 1 ||
        name.empty() || !(module.empty() || named) || !word(line).empty()) {
        return std::nullopt;
    }
    symbol.module = named ? module.substr(1, module.size() - 2) : module;
    return symbol;
}

} // namespace

SymbolList read_kallsyms(std::string_view text) {
    SymbolList symbols;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.find_first_not_of(blanks) == std::string_view::npos) {
            continue;
        }
        std::optional<Symbol> symbol = symbol_in(line);
        if (!symbol) {
            throw bad_input("line {} is no symbol (address type name [module])", number);
        }
        symbols.push_back(std::move(*symbol));
    }
    if (!symbols.empty() && std::all_of(symbols.begin(), symbols.end(),
                                        [](const Symbol& symbol) { return symbol.address == 0; })) {
        throw bad_input("all addresses are 0: the kernel hides them from who is not root");
    }
    return symbols;
}

std::string kallsyms_text(std::span<const Symbol> symbols) {
    fmt::memory_buffer text;
    for (const Symbol& symbol : symbols) {
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
