#include "verify/align.hpp"

#include "verify/detour.hpp"
#include "verify/undecoded.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace mmioscope::verify {

// Pairs of a line and an event that must match, because their content occurs once on each side.
// They allow piecewise comparison of a trace that lacks most accesses.

/// The pairs from `from` on, in the order of both sides, as many as possible.
std::vector<Place> find_anchors(const StreamPair& pair, const Place& from);

namespace {

/// After this many differences without a short detour, assumes that most of the rest is missing.
constexpr unsigned most_failures = 8;
/// How far to search a match between two anchors, in lines.
constexpr std::uint64_t bridge_reach = 100'000;
/// How many lines to compare in vain between two anchors: a hundred events' whole reach, a tenth of
/// a second. What is found needs no limit, because the search goes on behind it.
constexpr std::uint64_t bridge_in_vain = 100 * bridge_reach;

class Aligner {
public:
    Aligner(const StreamPair& pair, Matching& matching) : pair_(pair), matching_(matching) {}

    void run() {
        Place place{0, 0};
        unsigned patience = 20; // two different runs never agree: do not try for ever
        while (!pair_.at_end(place) && patience > 0) {
            if (const Match match = pair_.match(place)) {
                keep(place, match);
                continue;
            }
            std::optional<std::vector<Step>> way;
            if (failures_ < most_failures) {
                way = find_detour(pair_, place);
            }
            if (!way) {
                ++failures_;
                if (cross_to_anchor(place)) {
                    continue;
                }
                --patience;
                way = find_far(pair_, place);
            }
            if (!way) {
                return;
            }
            follow(place, *way);
        }
    }

private:
    void keep(Place& place, const Match& match) {
        for (unsigned i = 0; i < match.lines; ++i) {
            matching_.explained[pair_.lines.index(place.line + i)] = true;
        }
        for (unsigned i = 0; i < match.events; ++i) {
            const std::uint64_t line = place.line + std::min(i, match.lines - 1u);
            matching_.line_of[pair_.events.index(place.event + i)] = pair_.lines.index(line);
        }
        matching_.artefacts[static_cast<std::size_t>(match.artefact)] += match.events;
        place = place.behind(match);
    }

    void follow(Place& place, const std::vector<Step>& way) {
        for (const Step& step : way) {
            place.line += step.lines;
            place.event += step.events;
            for (std::uint64_t i = 0; i < step.matches; ++i) {
                keep(place, pair_.match(place));
            }
        }
    }

    // Goes to the next anchor, if there is one. Between the anchors, what agrees in the order of
    // both sides belongs together.
    bool cross_to_anchor(Place& place) {
        if (failures_ == 1) {
            anchors_ = find_anchors(pair_, place);
        }
        const auto next = std::find_if(
            anchors_.begin() + next_anchor_, anchors_.end(), [&place](const Place& anchor) {
                return anchor.line >= place.line && anchor.event >= place.event;
            });
        next_anchor_ = next - anchors_.begin();
        if (next == anchors_.end()) {
            return false;
        }
        bridge(place, *next);
        place = *next;
        return true;
    }

    void bridge(Place place, const Place& to) {
        const std::uint64_t most = matching_.in_vain + bridge_in_vain;
        while (place.event < to.event && matching_.in_vain < most) {
            const std::uint64_t end = std::min(to.line, place.line + bridge_reach);
            Place at = place;
            Match match;
            while (at.line < end && !(match = pair_.match(at))) {
                ++at.line;
            }
            if (match) {
                place.line = at.line;
                keep(place, match);
            } else {
                matching_.in_vain += at.line - place.line;
                ++place.event;
            }
        }
    }

    StreamPair pair_;
    Matching& matching_;
    unsigned failures_ = 0;
    std::vector<Place> anchors_;
    std::ptrdiff_t next_anchor_ = 0;
};

} // namespace

void align(const Stream& stream, std::span<const importing::Line> lines,
           std::span<const importing::Event> events, Matching& matching) {
    const StreamPair pair{Ahead<importing::Line>(lines, stream.lines),
                          Ahead<importing::Event>(events, stream.events)};
    Aligner(pair, matching).run();
}

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
