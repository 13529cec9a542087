#include "symbols/function_table.hpp"

#include "symbols/kernel_words.hpp"
#include "system/error.hpp"
#include "system/escape.hpp"

#include <algorithm>
#include <optional>

namespace mmioscope::symbols {

FunctionTable::FunctionTable(SymbolList symbols) {
    std::erase_if(symbols, [](const Symbol& symbol) { return is_mark(symbol.name); });
    std::stable_sort(symbols.begin(), symbols.end(), [](const Symbol& left, const Symbol& right) {
        return left.address < right.address;
    });
    for (auto first = symbols.begin(); first != symbols.end();) {
        const std::uint32_t start = first->address;
        const auto next = std::find_if(first, symbols.end(), [start](const Symbol& symbol) {
            return symbol.address != start;
        });
        const auto function = std::find_if(first, next, is_function);
        if (function != next) {
            const std::uint32_t size =
                next == symbols.end() ? max_function_size : next->address - start;
            functions_.push_back({start, std::min(size, max_function_size),
                                  std::move(function->name), std::move(function->module)});
        }
        first = next;
    }
}

const FunctionTable::Function* FunctionTable::find(std::uint32_t address) const {
    const auto behind = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](std::uint32_t at, const Function& function) { return at < function.start; });
    if (behind == functions_.begin() || address - (behind - 1)->start >= (behind - 1)->size) {
        return nullptr;
    }
    return &*(behind - 1);
}

bool FunctionTable::locate(std::uint32_t address, Location& to) {
    const Function* const function = find(address);
    if (function == nullptr) {
        return false;
    }
    to = {function->name, address - function->start, function->module, {}, function->size};
    return true;
}

void FunctionTable::each_function(const VisitName& visit) {
    for (const Function& function : functions_) {
        visit(function.name);
    }
}

Reach FunctionTable::code() const {
    return functions_.empty()
               ? Reach()
               : Reach{functions_.front().start,
                       std::uint64_t{functions_.back().start} + functions_.back().size};
}

std::optional<Extent> FunctionTable::extent(std::uint32_t address) const {
    const Function* const function = find(address);
    return function == nullptr ? std::nullopt
                               : std::optional(Extent{function->start, function->size});
}

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

} // namespace mmioscope::symbols
