#include "symbols/symbols.hpp"

#include "symbols/function_table.hpp"

#include <utility>

namespace mmioscope::symbols {

namespace {

/// So many addresses of which nothing is known are kept: a trace may hold any number of them.
constexpr std::size_t max_kept = 1u << 20;

class Span : public Source {
public:
    explicit Span(const ModuleSpan& span) : span_(span) {}

    bool locate(std::uint32_t address, Location& to) override {
        to.offset = address - span_.base; // below the base it is larger than any size
        to.module = span_.name;
        return to.offset < span_.size;
    }

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
        // Behind its last function.
        functions.push_back({span.base + span.size, 'D', "", span.name});
        add(Trust::text, std::make_unique<FunctionTable>(std::move(functions)));
    }
    add(Trust::module, std::make_unique<Span>(span));
}

const Location* Symbols::at(std::uint32_t address) {
    return find(address & ~1u, 0);
}

const Location* Symbols::caller(std::uint32_t address) {
    return find((address & ~1u) - 1, 1);
}

const Location* Symbols::find(std::uint32_t address, std::uint32_t step) {
    if (sources_.empty()) {
        return nullptr;
    }
    if (const auto known = found_.find(address); known != found_.end()) {
        return known->second ? &*known->second : nullptr;
    }
    for (const auto& [trust, source] : sources_) {
        if (Location location; source->locate(address, location)) {
            location.offset += step;
            return &*found_.emplace(address, std::move(location)).first->second;
        }
    }
    if (found_.size() < max_kept) {
        found_.emplace(address, std::nullopt);
    }
    return nullptr;
}

bool same_function(const Location& left, const Location& right) {
    return left.function == right.function && left.module == right.module;
}

} // namespace mmioscope::symbols
