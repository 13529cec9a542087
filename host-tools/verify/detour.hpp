// Searches for the place from which two streams agree again.
#pragma once

#include "verify/artefacts.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace mmioscope::verify {

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

/// The way from `start`, where both sides differ, to agreement, with the fewest differences;
/// nothing if there are too many.
std::optional<std::vector<Step>> find_detour(const StreamPair& pair, const Place& start);

/// A way past a long stretch that one side lacks; nothing if none is found.
std::optional<std::vector<Step>> find_far(const StreamPair& pair, const Place& start);

} // namespace mmioscope::verify
