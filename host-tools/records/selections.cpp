#include "records/selections.hpp"

#include "abi/control.hpp"

namespace mmioscope::trace {

namespace {

using abi::RegionEntry;
using abi::control::Command;

/// Regions that requests for all do not change (hyp/services/control/changing_pages.cpp).
bool is_fixed(const RegionEntry& region) {
    constexpr std::uint64_t largest = 16 << 20;
    const bool memory =
        (region.flags & abi::region_memory) != 0 && (region.flags & abi::region_traced) == 0;
    const bool withheld = (region.flags & (abi::region_hypervisor | abi::region_stream)) != 0;
    return memory || withheld || region.size > largest;
}

/// A request, as far as it concerns the selection.
struct Choice {
    bool on;
    std::optional<std::uint32_t> region; ///< nothing: by address
    std::uint64_t base, size;

    /// The new state of region `index`; nothing if the request is for others.
    std::optional<Traced> of(std::uint32_t index, const RegionEntry& entry) const {
        const Traced wanted = on ? Traced::yes : Traced::no;
        if (region) {
            const bool meant =
                *region == abi::control::all_regions ? !is_fixed(entry) : *region == index;
            return meant ? std::optional(wanted) : std::nullopt;
        }
        if (entry.base >= base && entry.size <= size && entry.base - base <= size - entry.size) {
            return wanted;
        }
        const bool touches = base < entry.base ? entry.base - base < size
                                               : base - entry.base < entry.size && size > 0;
        return touches ? std::optional(Traced::in_part) : std::nullopt;
    }
};

std::optional<Choice> choice_of(const abi::Record& record) {
    const auto first = static_cast<std::uint32_t>(record.value);
    const auto second = static_cast<std::uint32_t>(record.value >> 32);
    switch (abi::control::tag_command(record.pa_low)) {
    case Command::select: return Choice{true, first, 0, 0};
    case Command::deselect: return Choice{false, first, 0, 0};
    case Command::select_range: return Choice{true, std::nullopt, first, second};
    case Command::deselect_range: return Choice{false, std::nullopt, first, second};
    default: return std::nullopt;
    }
}

Traced flagged(const RegionEntry& region) {
    return (region.flags & abi::region_traced) != 0 ? Traced::yes : Traced::no;
}

} // namespace

// A repeated state is not a change, except for a part, which may be another one.
void TracedHistory::add(std::uint64_t time, Traced now) {
    if (now != Traced::in_part && now == (count == 0 ? at_first : last.now)) {
        return;
    }
    last = {time, now};
    ++count;
    if (first.size() < most_kept) {
        first.push_back(last);
    }
}

void Selections::add(const abi::Record& record, std::span<const RegionEntry> regions) {
    if (record.type != abi::RecordType::configuration) {
        return;
    }
    const Command command = abi::control::tag_command(record.pa_low);
    if (command == Command::start || command == Command::stop) {
        all_.add(record.time, command == Command::start ? Traced::yes : Traced::no);
    }
    const std::optional<Choice> choice = choice_of(record);
    for (std::size_t i = 0; choice && i < regions.size(); ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        if (const auto now = choice->of(index, regions[i])) {
            TracedHistory& history = regions_.try_emplace(index).first->second;
            history.at_first = flagged(regions[i]);
            history.add(record.time, *now);
        }
    }
}

const TracedHistory* Selections::of(std::uint16_t region) const {
    const auto found = regions_.find(region);
    return found != regions_.end() && found->second.count > 0 ? &found->second : nullptr;
}

} // namespace mmioscope::trace
