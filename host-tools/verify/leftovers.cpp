#include "verify/leftovers.hpp"

#include <algorithm>

namespace mmioscope::verify {

namespace {

/// How far apart, in lines, the two sides of one access may be.
constexpr std::uint32_t reach = 2000;
/// With more left over than this, the sides come from different runs: only count.
constexpr std::size_t most_left = 50'000;

struct Leftover {
    std::uint32_t event;
    std::uint32_t expected; ///< expected line
};

std::uint64_t bus_value(const importing::Line& line, const importing::Event& event) {
    return event.size >= 8 ? line.value : line.value & ((std::uint64_t{1} << event.size * 8) - 1);
}

// The fields in which the two differ: none, one, or `nullopt` for more.
struct Comparison {
    unsigned count = 0;
    Kind kind = Kind::order;

    void differ(Kind which) {
        ++count;
        kind = which;
    }
};

Comparison compare(const importing::Line& line, const importing::Event& event) {
    Comparison fields;
    const bool known = line.kind == importing::LineKind::access;
    if (line.cpu >= 0 && line.cpu != static_cast<int>(event.cpu)) {
        fields.differ(Kind::cpu);
    }
    if (line.write != event.write) {
        fields.differ(Kind::direction);
    }
    if (line.address != event.address) {
        fields.differ(Kind::address);
    }
    if (line.size != event.size && !(line.widened && event.size < line.size)) {
        fields.differ(Kind::size);
    }
    if (known && event.value_known && bus_value(line, event) != event.value) {
        fields.differ(Kind::value);
    }
    return fields;
}

class Pairing {
public:
    Pairing(std::span<const importing::Line> lines, std::span<const importing::Event> events,
            Matching& matching)
        : lines_(lines), events_(events), matching_(matching) {
        collect();
    }

    std::vector<Difference> run() {
        if (left_lines_.size() <= most_left && left_events_.size() <= most_left) {
            for (unsigned differing = 0; differing <= 1; ++differing) {
                pair(differing);
            }
        }
        for (const std::uint32_t line : left_lines_) {
            differences_.push_back({Kind::missing, line, importing::nowhere});
        }
        for (const Leftover& left : left_events_) {
            differences_.push_back({Kind::extra, importing::nowhere, left.event});
        }
        return std::move(differences_);
    }

private:
    void collect() {
        std::uint32_t expected = 0;
        for (std::uint32_t event = 0; event < events_.size(); ++event) {
            if (matching_.line_of[event] == importing::nowhere) {
                left_events_.push_back({event, expected});
            } else {
                expected = matching_.line_of[event];
            }
        }
        for (std::uint32_t line = 0; line < lines_.size(); ++line) {
            if (!matching_.explained[line]) {
                left_lines_.push_back(line);
            }
        }
    }

    // Pairs leftovers that differ in exactly `differing` fields.
    void pair(unsigned differing) {
        std::erase_if(left_events_, [&](const Leftover& left) { return explain(left, differing); });
    }

    bool explain(const Leftover& left, unsigned differing) {
        const std::uint32_t low = left.expected - std::min(left.expected, reach);
        auto at = std::lower_bound(left_lines_.begin(), left_lines_.end(), low);
        for (; at != left_lines_.end() && *at <= left.expected + reach; ++at) {
            const Comparison fields = compare(lines_[*at], events_[left.event]);
            if (fields.count == differing) {
                put_together(*at, left.event, fields);
                left_lines_.erase(at);
                return true;
            }
        }
        return false;
    }

    void put_together(std::uint32_t line, std::uint32_t event, const Comparison& fields) {
        matching_.line_of[event] = line;
        matching_.explained[line] = true;
        if (fields.count > 0) {
            differences_.push_back({fields.kind, line, event});
        }
    }

    std::span<const importing::Line> lines_;
    std::span<const importing::Event> events_;
    Matching& matching_;
    std::vector<std::uint32_t> left_lines_; ///< ascending
    std::vector<Leftover> left_events_;
    std::vector<Difference> differences_;
};

} // namespace

std::vector<Difference> name_leftovers(std::span<const importing::Line> lines,
                                       std::span<const importing::Event> events,
                                       Matching& matching) {
    return Pairing(lines, events, matching).run();
}

} // namespace mmioscope::verify
