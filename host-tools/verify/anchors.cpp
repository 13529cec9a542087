#include "verify/anchors.hpp"

#include "verify/undecoded.hpp"

#include <algorithm>
#include <tuple>

namespace mmioscope::verify {

namespace {

struct Entry {
    std::uint64_t address;
    std::uint64_t value;
    std::uint64_t place;
    std::uint8_t size;
    bool write;
    bool is_event;

    auto key() const { return std::tie(address, value, size, write); }
};

std::uint64_t bus_value(const importing::Line& line) {
    return line.size >= 8 ? line.value : line.value & ((std::uint64_t{1} << line.size * 8) - 1);
}

std::vector<Entry> sorted_entries(const StreamPair& pair, const Place& from) {
    std::vector<Entry> entries;
    for (std::uint64_t i = from.line; i < pair.lines.size(); ++i) {
        const importing::Line& line = pair.lines[i];
        if (line.kind == importing::LineKind::access) {
            entries.push_back({line.address, bus_value(line), i, line.size, line.write, false});
        }
    }
    for (std::uint64_t i = from.event; i < pair.events.size(); ++i) {
        const importing::Event& event = pair.events[i];
        if (event.value_known && !is_undecoded(event)) {
            entries.push_back({event.address, event.value, i, event.size, event.write, true});
        }
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tuple_cat(a.key(), std::tie(a.is_event, a.place)) <
               std::tuple_cat(b.key(), std::tie(b.is_event, b.place));
    });
    return entries;
}

// In the order of lines.
std::vector<Place> unique_pairs(const std::vector<Entry>& entries) {
    std::vector<Place> pairs;
    for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
        while (end < entries.size() && entries[end].key() == entries[begin].key()) {
            ++end;
        }
        if (end - begin == 2 && !entries[begin].is_event && entries[begin + 1].is_event) {
            pairs.push_back({entries[begin].place, entries[begin + 1].place});
        }
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const Place& a, const Place& b) { return a.line < b.line; });
    return pairs;
}

// The longest subsequence in which the events are in order, too.
std::vector<Place> longest_ascending(const std::vector<Place>& pairs) {
    std::vector<std::size_t> ends; ///< by length: the end of the one with the lowest last event
    std::vector<std::size_t> before(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto at = std::lower_bound(
            ends.begin(), ends.end(), pairs[i].event,
            [&](std::size_t end, std::uint64_t event) { return pairs[end].event < event; });
        before[i] = at == ends.begin() ? pairs.size() : *(at - 1);
        if (at == ends.end()) {
            ends.push_back(i);
        } else {
            *at = i;
        }
    }
    std::vector<Place> longest;
    for (std::size_t i = ends.empty() ? pairs.size() : ends.back(); i < pairs.size();
         i = before[i]) {
        longest.push_back(pairs[i]);
    }
    std::reverse(longest.begin(), longest.end());
    return longest;
}

} // namespace

std::vector<Place> find_anchors(const StreamPair& pair, const Place& from) {
    return longest_ascending(unique_pairs(sorted_entries(pair, from)));
}

} // namespace mmioscope::verify
