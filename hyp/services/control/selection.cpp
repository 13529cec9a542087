#include "control/selection.hpp"

#include "changing/live_tables.hpp"
#include "control/changing_pages.hpp"
#include "port/shared.hpp"

namespace mmioscope {

namespace {

using abi::control::Status;

bool chosen(const Span& span, const Which& which) {
    if (!which.range.empty()) return span.range.overlaps(which.range);
    if (which.region == abi::control::all_regions) return span.changeable;
    return span.region == which.region;
}

/// Sets the descriptors of `span`'s pages as the map requires now.
void set_pages(Machine& machine, Integrity& integrity, const Span& span) {
    const std::uint64_t end = page_ceil(span.range.end);
    for (std::uint64_t page = page_floor(span.range.begin); page < end; page += page_size) {
        const auto wanted = page_descriptor(machine.map, machine.shadow(0), page);
        for (unsigned cpu = 0; cpu < machine.cpu_count; ++cpu) { // most have the same one
            lpae::Descriptor& entry = *machine.normal(cpu).entry(page);
            if (entry != wanted) integrity.store_sealed(entry, wanted);
        }
    }
}

} // namespace

Status can_change(const Machine& machine, const Which& which) {
    bool any = false;
    for (const Span& span : machine.map) {
        if (!chosen(span, which)) continue;
        if (!span.changeable) return Status::fixed;
        if (!which.range.empty() && !which.range.contains(span.range)) return Status::finer;
        any = true;
    }
    return any ? Status::done : Status::no_device;
}

void mark_selected(Machine& machine, Integrity& integrity, const Which& which, bool selected) {
    for (Span& span : machine.map)
        if (chosen(span, which) && span.selected() != selected)
            integrity.store_sealed(span.tracing, span.tracing ^ Span::selected_bit);
}

void apply_selection(Machine& machine, Integrity& integrity, bool stopped) {
    for (Span& span : machine.map) {
        const bool traced = !stopped && span.selected();
        if (!span.changeable || span.traced() == traced) continue;
        integrity.store_sealed(span.tracing, span.tracing ^ Span::traced_bit);
        set_pages(machine, integrity, span);
    }
    forget_on_all_cpus();
    // Stores to pages that do not trap any more are not counted, so this ends all reservations.
    machine.locks.count_stores_everywhere(machine.regions.size());
}

} // namespace mmioscope
