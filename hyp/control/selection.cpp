#include "control/selection.hpp"

#include "mm/changing_pages.hpp"
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
void set_pages(Machine& machine, const Span& span) {
    const std::uint64_t end = page_ceil(span.range.end);
    for (std::uint64_t page = page_floor(span.range.begin); page < end; page += page_size) {
        lpae::Descriptor& entry = *machine.normal_table.page_entry(page);
        const auto wanted = page_descriptor(machine.map, machine.shadow_tables[0], page);
        if (entry != wanted) store_sealed(machine, entry, wanted);
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

void mark_selected(Machine& machine, const Which& which, bool selected) {
    for (Span& span : machine.map)
        if (chosen(span, which)) store_sealed(machine, span.selected, selected ? 1 : 0);
}

void apply_selection(Machine& machine) {
    for (Span& span : machine.map) {
        const bool traced = machine.control.stopped == 0 && port::load_shared(span.selected) != 0;
        if (!span.changeable || span.traced() == traced) continue;
        store_sealed(machine, span.traced_word, traced ? 1 : 0);
        set_pages(machine, span);
    }
    forget_on_all_cpus();
    // Stores to pages that do not trap any more are not counted, so this ends all reservations.
    machine.locks.count_stores_everywhere(machine.regions.size());
}

void choose_fast_regions(Machine& machine) {
    const std::uint32_t all = machine.control.choice.any ? RegionLock::not_fast : 0;
    for (std::uint16_t n = 0; n < machine.regions.size(); ++n)
        port::store_shared(machine.locks[n].device, n | all);
    for (const Span& span : machine.map)
        if (span.changeable && !span.traced())
            port::store_shared(machine.locks[span.region].device,
                               span.region | RegionLock::not_fast);
}

} // namespace mmioscope
