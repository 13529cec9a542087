#include "symbols/symbols.hpp"

#include "symbols/function_table.hpp"

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

} // namespace mmioscope::symbols
