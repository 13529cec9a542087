#include "verify/streams.hpp"

#include "verify/events.hpp"
#include "verify/undecoded.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace mmioscope::verify {

namespace {

using Shape = std::tuple<std::uint64_t, unsigned, bool>; // address, size, write

// Finds the accesses of the trace that a device model refused: those with the shape of a refused
// line, unless a model took exactly such an access. Makes the lines' addresses absolute.
std::set<Shape> locate_rejected(std::vector<importing::Line>& lines,
                                std::span<const importing::Event> events,
                                std::span<const abi::RegionEntry> regions) {
    std::map<Shape, std::vector<importing::Line*>> refused; // by offset
    for (importing::Line& line : lines) {
        if (line.kind == importing::LineKind::rejected) {
            refused[{line.address, line.size, line.write}].push_back(&line);
        }
    }
    std::set<Shape> shapes;
    if (refused.empty()) {
        return shapes;
    }
    std::set<Shape> taken;
    for (const importing::Line& line : lines) {
        if (line.kind == importing::LineKind::access) {
            taken.insert({line.address, line.size, line.write});
        }
    }
    for (const importing::Event& event : events) {
        const std::uint64_t base = event.device < regions.size() ? regions[event.device].base : 0;
        const Shape shape{event.address, event.size, event.write};
        const auto found = refused.find({event.address - base, event.size, event.write});
        if (found != refused.end() && !taken.contains(shape)) {
            shapes.insert(shape);
            for (importing::Line* line : std::exchange(found->second, {})) {
                line->address = event.address;
            }
        }
    }
    return shapes;
}

std::unordered_set<std::uint64_t> unmodelled_addresses(std::span<const importing::Line> lines) {
    std::unordered_set<std::uint64_t> addresses;
    for (const importing::Line& line : lines) {
        if (line.kind == importing::LineKind::unmodelled) {
            addresses.insert(line.address);
            addresses.insert(line.address + line.size / 2); // two words in a line of 8 bytes
        }
    }
    return addresses;
}

// Lines of an unaligned access, and of some undecoded ones, begin below its address.
bool is_unmodelled(const importing::Event& event,
                   const std::unordered_set<std::uint64_t>& addresses) {
    const std::uint64_t step = is_undecoded(event) ? 8 : event.size;
    return !addresses.empty() && (addresses.contains(event.address) ||
                                  addresses.contains(event.address - event.address % step));
}

bool before(const importing::Event& a, const importing::Event& b) {
    return static_cast<std::int32_t>(b.cpu_sequence - a.cpu_sequence) > 0;
}

// An event whose number contradicts its place, between two that are consecutive, could be mistaken
// for similar ones. It is moved to where its number belongs, or removed if that is nowhere.
// (check_order() reports that it is misplaced.)
void settle_strays(std::vector<std::uint32_t>& order, std::span<const importing::Event> events) {
    std::vector<std::uint32_t> kept;
    std::vector<std::uint32_t> strays;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const importing::Event& event = events[order[i]];
        const importing::Event* last = kept.empty() ? nullptr : &events[kept.back()];
        const importing::Event* next = i + 1 < order.size() ? &events[order[i + 1]] : nullptr;
        const bool neighbours_agree = last == nullptr || next == nullptr || before(*last, *next);
        const bool fits =
            (last == nullptr || before(*last, event)) && (next == nullptr || before(event, *next));
        (fits || !neighbours_agree ? kept : strays).push_back(order[i]);
    }
    for (const std::uint32_t stray : strays) {
        const auto place = std::lower_bound(
            kept.begin(), kept.end(), stray,
            [&](std::uint32_t a, std::uint32_t b) { return before(events[a], events[b]); });
        if (place != kept.end() && before(events[stray], events[*place])) {
            kept.insert(place, stray);
        }
    }
    order = std::move(kept);
}

} // namespace

std::vector<Stream> divide(std::vector<importing::Line>& lines,
                           std::span<const importing::Event> events,
                           std::span<const abi::RegionEntry> regions) {
    const std::set<Shape> rejected = locate_rejected(lines, events, regions);
    const std::unordered_set<std::uint64_t> unmodelled = unmodelled_addresses(lines);
    const RegionFinder region_of(regions);
    // CPUs from 0 on, then devices without a model.
    constexpr std::uint32_t devices = 256;
    std::map<std::uint32_t, Stream> streams;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
        const importing::Line& line = lines[i];
        const std::uint32_t key = line.cpu >= 0 ? static_cast<std::uint32_t>(line.cpu)
                                                : devices + region_of(line.address);
        streams[key].lines.push_back(i);
    }
    for (std::uint32_t i = 0; i < events.size(); ++i) {
        const importing::Event& event = events[i];
        const bool modelled =
            !is_unmodelled(event, unmodelled) &&
            (rejected.empty() || !rejected.contains({event.address, event.size, event.write}));
        streams[modelled ? event.cpu : devices + region_of(event.address)].events.push_back(i);
    }
    std::vector<Stream> all;
    for (auto& [key, stream] : streams) {
        if (key < devices) {
            settle_strays(stream.events, events);
        }
        all.push_back(std::move(stream));
    }
    return all;
}

} // namespace mmioscope::verify
