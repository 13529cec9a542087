#include "verify/align.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace mmioscope::verify {

namespace {

/// A position in both sides of a stream.
struct Place {
    std::uint64_t line;
    std::uint64_t event;

    Place behind(const Match& match) const { return {line + match.lines, event + match.events}; }
};

/// Both sides of a stream.
struct StreamPair {
    Ahead<importing::Line> lines;
    Ahead<importing::Event> events;

    bool line_left(const Place& at) const { return at.line < lines.size(); }
    bool event_left(const Place& at) const { return at.event < events.size(); }
    bool at_end(const Place& at) const { return !line_left(at) || !event_left(at); }
    Match match(const Place& at) const {
        return explain(lines.from(at.line), events.from(at.event));
    }
};

/// Skips `lines` and `events`, then passes `matches` that agree.
struct Step {
    std::uint64_t lines;
    std::uint64_t events;
    std::uint64_t matches;
};

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

/// Pairs of a line and an event from `from` on that must match, because their content occurs once
/// on each side, in the order of both sides, as many as possible. They allow piecewise comparison
/// of a trace that lacks most accesses.
std::vector<Place> find_anchors(const StreamPair& pair, const Place& from) {
    return longest_ascending(unique_pairs(sorted_entries(pair, from)));
}

constexpr std::uint64_t agreement = 64;   ///< consecutive matches that end the search
constexpr std::uint64_t horizon = 20'000; ///< matches to compare two ways by
constexpr unsigned most_differences = 48;
constexpr std::uint64_t far_agreement = 32; ///< likewise, after a long stretch
constexpr std::uint64_t far_limit = 1'000'000;

// The number of consecutive matches from `at` on; moves `at` behind them.
std::uint64_t go(const StreamPair& pair, Place& at, std::uint64_t most) {
    std::uint64_t count = 0;
    while (count < most && !pair.at_end(at)) {
        const Match match = pair.match(at);
        if (!match) {
            break;
        }
        at = at.behind(match);
        ++count;
    }
    return count;
}

struct Node {
    Place place; ///< after the matches
    Step step;   ///< from the node before
    std::size_t before;
};

bool farther(const Node& a, const Node& b) {
    return a.place.line + a.place.event > b.place.line + b.place.event;
}

class Search {
public:
    Search(const StreamPair& pair, const Place& start) : pair_(pair) {
        nodes_.push_back({start, {0, 0, 0}, 0});
        frontier_.push_back(0);
    }

    std::optional<std::vector<Step>> run() {
        for (unsigned differences = 1; differences <= most_differences; ++differences) {
            const std::optional<std::size_t> goal = widen();
            if (goal) {
                return way_to(*goal);
            }
        }
        return std::nullopt;
    }

private:
    // Adds one difference to each node of the frontier, and keeps the farthest node on each
    // diagonal. Returns the farthest node that reached agreement.
    std::optional<std::size_t> widen() {
        // The altered one first: among equally good ways it says more.
        static constexpr Step ways[] = {{1, 1, 0}, {1, 0, 0}, {0, 1, 0}};
        std::map<std::int64_t, std::size_t> reached;
        std::optional<std::size_t> goal;
        for (const Step& way : ways) {
            for (const std::size_t from : frontier_) {
                const std::optional<Node> node = extend(from, way);
                if (!node) {
                    continue;
                }
                nodes_.push_back(*node);
                const std::size_t made = nodes_.size() - 1;
                const auto diagonal = static_cast<std::int64_t>(node->place.line) -
                                      static_cast<std::int64_t>(node->place.event);
                const auto [at, fresh] = reached.try_emplace(diagonal, made);
                if (!fresh && farther(*node, nodes_[at->second])) {
                    at->second = made;
                }
                if (agrees(*node) && (!goal || farther(*node, nodes_[*goal]))) {
                    goal = made;
                }
            }
        }
        frontier_.clear();
        for (const auto& [diagonal, node] : reached) {
            frontier_.push_back(node);
        }
        return goal;
    }

    std::optional<Node> extend(std::size_t from, Step way) const {
        Place at = nodes_[from].place;
        if (at.line + way.lines > pair_.lines.size() ||
            at.event + way.events > pair_.events.size()) {
            return std::nullopt;
        }
        at = {at.line + way.lines, at.event + way.events};
        way.matches = go(pair_, at, horizon);
        return Node{at, way, from};
    }

    bool agrees(const Node& node) const {
        const bool both_ended = !pair_.line_left(node.place) && !pair_.event_left(node.place);
        return node.step.matches >= agreement || both_ended;
    }

    std::vector<Step> way_to(std::size_t node) const {
        std::vector<Step> way;
        for (; node != 0; node = nodes_[node].before) {
            way.push_back(nodes_[node].step);
        }
        std::reverse(way.begin(), way.end());
        return way;
    }

    const StreamPair& pair_;
    std::vector<Node> nodes_;
    std::vector<std::size_t> frontier_;
};

// Skips as few as possible on one side, and `skip` on the other.
std::optional<Step> scan(const StreamPair& pair, Place at, std::uint64_t Step::*side,
                         std::uint64_t Place::*axis) {
    Step step{0, 0, 0};
    for (; step.*side < far_limit && !pair.at_end(at); ++(step.*side), ++(at.*axis)) {
        Place end = at;
        if (go(pair, end, far_agreement) == far_agreement) {
            return step;
        }
    }
    return std::nullopt;
}

/// The way from `start`, where both sides differ, to agreement, with the fewest differences;
/// nothing if there are too many.
std::optional<std::vector<Step>> find_detour(const StreamPair& pair, const Place& start) {
    return Search(pair, start).run();
}

/// A way past a long stretch that one side lacks; nothing if none is found.
std::optional<std::vector<Step>> find_far(const StreamPair& pair, const Place& start) {
    for (std::uint64_t skip = 0; skip <= 1024; skip = skip * 2 + 1) {
        const Place past_events{start.line, start.event + skip};
        if (const auto step = scan(pair, past_events, &Step::lines, &Place::line)) {
            return std::vector{Step{step->lines, skip, 0}};
        }
        const Place past_lines{start.line + skip, start.event};
        if (const auto step = scan(pair, past_lines, &Step::events, &Place::event)) {
            return std::vector{Step{skip, step->events, 0}};
        }
    }
    return std::nullopt;
}

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

} // namespace mmioscope::verify
