#include "symbols/symbols.hpp"

#include "system/error.hpp"
#include "system/escape.hpp"

#include <utility>

namespace mmioscope::symbols {

namespace {

class Span : public Source {
public:
    explicit Span(const ModuleSpan& span) : span_(span) {}

    bool locate(std::uint32_t address, Location& to) override {
        to.offset = address - span_.base; // below the base it wraps, and exceeds any size
        to.module = span_.name;
        return to.offset < span_.size;
    }
    Reach reach() override { return {span_.base, std::uint64_t{span_.base} + span_.size}; }

private:
    ModuleSpan span_;
};

} // namespace

void Symbols::add(Trust trust, std::unique_ptr<Source> source) {
    sources_.emplace(trust, std::move(source));
}

void Symbols::add_module(const ModuleSpan& span, SymbolList functions) {
    if (!functions.empty()) {
        for (Symbol& symbol : functions) {
            symbol.module = span.name;
        }
        // After its last function.
        functions.push_back({span.base + span.size, 'D', "", span.name});
        add(Trust::text, std::make_unique<FunctionTable>(std::move(functions)));
    }
    add(Trust::module, std::make_unique<Span>(span));
}

void Symbols::each_function(const VisitName& visit) const {
    for (const auto& [trust, source] : sources_) {
        source->each_function(visit);
    }
}

Reach Symbols::reach() const {
    Reach all;
    for (const auto& [trust, source] : sources_) {
        const Reach one = source->reach();
        all.add(one.first, one.last);
    }
    return all;
}

bool Symbols::locate(std::uint32_t address, Location& to) const {
    bool first = true; // it may know another function at the next address
    for (const auto& [trust, source] : sources_) {
        if (source->locate(address, to)) {
            to.offset += address & 1;
            to.size = first ? to.size : 0;
            return true;
        }
        to = {};
        first = false;
    }
    return false;
}

namespace {

/// The names of Linux; `end`: in front of a compiler's `.part.0`.
struct NamesOf {
    std::string_view begin, end;
};
constexpr NamesOf families[] = {
    {"__raw_read", ""},
    {"__raw_write", ""}, // arch/arm/lib
    {"ioread", ""},
    {"iowrite", ""}, // lib/iomap.c
    {"_memcpy_", "io"},
    {"_memset_io", ""}, // arch/arm/kernel/io.c
    {"__iowrite", "_copy"},
    {"__ioread", "_copy"}, // lib/iomap_copy.c
    {"regmap_", ""},
    {"_regmap_", ""}, // drivers/base/regmap
    {"bgpio_", ""},
    {"irq_gc_", ""}, // gpio-mmio.c, generic-chip.c
    {"", "_serial_in"},
    {"", "_serial_out"},   // drivers/tty/serial/8250
    {"uart_console_", ""}, // serial_core.c: calls putchar
    {"pci_", "_config_byte"},
    {"pci_", "_config_word"},
    {"pci_", "_config_dword"},
    {"pci_generic_config_", ""}, // drivers/pci/access.c
};

} // namespace

bool is_accessor(std::string_view function) {
    const std::string_view name = function.substr(0, function.find('.'));
    return std::ranges::any_of(families, [&](const NamesOf& family) {
        return name.starts_with(family.begin) && name.ends_with(family.end);
    });
}

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
