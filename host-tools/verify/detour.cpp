#include "verify/detour.hpp"

#include <algorithm>
#include <map>

namespace mmioscope::verify {

namespace {

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

} // namespace

std::optional<std::vector<Step>> find_detour(const StreamPair& pair, const Place& start) {
    return Search(pair, start).run();
}

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

} // namespace mmioscope::verify
