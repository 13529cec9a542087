#include "run/watches.hpp"

#include "run/probes.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <memory>

namespace mmioscope::run {

control::FindDevice variables_in(symbols::SymbolList symbols, std::uint64_t ram_base) {
    using symbols::Symbol;
    std::erase_if(symbols, [](const Symbol& s) {
        return !s.module.empty() || s.type == 'a' || s.type == 'A';
    });
    std::ranges::sort(symbols, {}, &Symbol::address);
    const auto text = std::ranges::find_if(symbols, symbols::is_function);
    const std::uint32_t first = text != symbols.end() ? memory_begin(text->address) : 0;
    const auto all = std::make_shared<symbols::SymbolList>(std::move(symbols));
    return [all, first, ram_base](const std::string& name) {
        const auto found = std::ranges::find(*all, name, &Symbol::name);
        if (found == all->end() || found->address < first) {
            throw bad_input(
                "{}: no such variable; give its kernel's vmlinux or System.map, or BASE+SIZE",
                name);
        }
        const auto behind = std::ranges::upper_bound(*all, found->address, {}, &Symbol::address);
        const std::uint32_t size = behind != all->end() ? behind->address - found->address : 4;
        return std::vector{control::Place{ram_base + (found->address - first), size}};
    };
}

std::vector<std::uint32_t> watch_cells(const std::vector<std::string>& wanted,
                                       const control::FindDevice& find) {
    std::vector<std::uint32_t> cells;
    for (const std::string& word : wanted) {
        const std::vector<std::string> words{"watch", word};
        for (const control::Ask& ask : control::asks_of(words, find)) {
            cells.insert(cells.end(), {ask.first, ask.second});
        }
    }
    return cells;
}

std::vector<std::uint32_t> page_cells(const std::vector<std::string>& wanted,
                                      const control::FindDevice& find) {
    std::vector<std::uint32_t> cells, limit;
    for (const std::string& word : wanted) {
        if (word.starts_with("limit=")) {
            limit = {static_cast<std::uint32_t>(parse_number(word.substr(6)).value_or(0))};
        } else if (std::ranges::find(wanted, "all") == wanted.end()) {
            for (const control::Place& pages : control::pages_of(word, find)) {
                cells.insert(cells.end(), {static_cast<std::uint32_t>(pages.base),
                                           static_cast<std::uint32_t>(pages.size)});
            }
        }
    }
    cells.insert(cells.begin(), limit.begin(), limit.end());
    return cells;
}

} // namespace mmioscope::run
