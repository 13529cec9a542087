#include "symbols/function_table.hpp"

#include <algorithm>

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

} // namespace mmioscope::symbols
