#include "registers/description.hpp"

#include "registers/regs_line.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::registers {

namespace {

/// The index of `offset` in each series, if their steps nest: the largest step first.
std::vector<std::uint64_t> indices(const Entry& entry, std::uint64_t& offset) {
    std::vector<std::size_t> order(entry.series.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&entry](std::size_t a, std::size_t b) {
        return entry.series[a].step > entry.series[b].step;
    });
    std::vector<std::uint64_t> found(order.size());
    for (const std::size_t i : order) {
        const Series& series = entry.series[i];
        found[i] = series.step == 0 ? 0 : std::min(offset / series.step, series.count - 1);
        offset -= found[i] * series.step;
    }
    return found;
}

/// A register of an entry, for comparison with others.
struct Occurrence {
    std::uint64_t start;
    const Entry* entry;
};

constexpr std::uint64_t looked_at = 3; ///< of each series: the rest repeats these
/// Limit of a description: each level of its series multiplies them.
constexpr std::size_t most_places = 1u << 20;

void add_places(const Entry& entry, std::size_t depth, std::uint64_t start,
                std::vector<Occurrence>& to) {
    if (to.size() == most_places) {
        return;
    }
    if (depth == entry.series.size()) {
        to.push_back({start, &entry});
        return;
    }
    const Series& series = entry.series[depth];
    for (std::uint64_t i = 0; i < std::min(series.count, looked_at); ++i) {
        add_places(entry, depth + 1, start + i * series.step, to);
    }
    if (series.count > looked_at) {
        add_places(entry, depth + 1, start + (series.count - 1) * series.step, to);
    }
}

bool same_direction(const Entry& a, const Entry& b) {
    return a.direction == Direction::both || b.direction == Direction::both ||
           a.direction == b.direction;
}

} // namespace

std::string label(const Series& series, std::uint64_t index) {
    return index < series.labels.size() ? series.labels[index]
                                        : std::to_string(series.first + index);
}

std::uint64_t extent(const Entry& entry) {
    std::uint64_t bytes = entry.first.size;
    for (const Series& series : entry.series) {
        bytes += (series.count - 1) * series.step;
    }
    return bytes;
}

std::optional<std::uint64_t> start_of(const Entry& entry, std::uint64_t offset) {
    if (offset < entry.first.offset || offset - entry.first.offset >= extent(entry)) {
        return std::nullopt;
    }
    std::uint64_t within = offset - entry.first.offset;
    (void)indices(entry, within);
    return within < entry.first.size ? std::optional(offset - within) : std::nullopt;
}

Register instance(const Entry& entry, std::uint64_t start) {
    Register made = entry.first;
    std::uint64_t within = start - entry.first.offset;
    const std::vector<std::uint64_t> index = indices(entry, within);
    std::string name;
    for (std::size_t i = 0; i < index.size(); ++i) {
        name += entry.series[i].prefix + label(entry.series[i], index[i]);
    }
    made.name = name + entry.first.name;
    if (!entry.prefix.empty()) {
        made.description =
            entry.prefix + made.name + (made.description.empty() ? "" : ": " + made.description);
    }
    made.offset = start;
    return made;
}

const Entry* plain(const Description& device, std::string_view name) {
    for (const Entry& entry : device.entries) {
        if (entry.series.empty() && entry.first.name == name) {
            return &entry;
        }
    }
    return nullptr;
}

std::optional<Condition> condition(const Description& description, std::string_view text) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::size_t dot = std::min(text.rfind('.', equals), equals);
    const Entry* reg = plain(description, text.substr(0, dot));
    const auto value = equals == text.size() ? 0 : number(text.substr(equals + 1));
    if (reg == nullptr || !value || dot == equals) {
        return std::nullopt;
    }
    for (const Field& field : reg->first.fields) {
        if (field.name == text.substr(dot + 1, equals - dot - 1)) {
            return Condition{reg->first.offset, field.low, field.width, *value};
        }
    }
    return std::nullopt;
}

std::optional<Overlap> overlap(const Description& description) {
    std::vector<Occurrence> places;
    for (const Entry& entry : description.entries) {
        if (!entry.overlaps && !entry.when) {
            add_places(entry, 0, entry.first.offset, places);
        }
    }
    std::sort(places.begin(), places.end(),
              [](const Occurrence& a, const Occurrence& b) { return a.start < b.start; });
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Occurrence& a = places[i];
        for (std::size_t j = i + 1;
             j < places.size() && places[j].start < a.start + a.entry->first.size; ++j) {
            if (same_direction(*a.entry, *places[j].entry)) {
                const Occurrence& b = places[j];
                return Overlap{fmt::format("{} at {:#x} overlaps {} at {:#x}",
                                           instance(*b.entry, b.start).name, b.start,
                                           instance(*a.entry, a.start).name, a.start),
                               std::max(a.entry->line, b.entry->line)};
            }
        }
    }
    return std::nullopt;
}

namespace {

// Adds the names of `entry` from its series `depth` on; the outer ones give `start`.
bool add_names(const Entry& entry, std::size_t depth, std::uint64_t start,
               std::vector<std::string>& to) {
    if (depth == entry.series.size()) {
        to.push_back(instance(entry, start).name);
        return to.size() < most_names;
    }
    const Series& series = entry.series[depth];
    for (std::uint64_t i = 0; i < series.count; ++i) {
        if (!add_names(entry, depth + 1, start + i * series.step, to)) {
            return false;
        }
    }
    return true;
}

} // namespace

bool add_names(const Description& description, std::vector<std::string>& to) {
    for (const Entry& entry : description.entries) {
        if (!add_names(entry, 0, entry.first.offset, to)) {
            return false;
        }
    }
    return true;
}

} // namespace mmioscope::registers
