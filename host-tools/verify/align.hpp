// Matches the events of a stream with lines, with as few differences as possible.
//
// Where both sides agree this is one pass. At a difference it searches the shortest way to a place
// from which they agree again: leaving out a line (the trace lacks it), an event (the log lacks
// it), or one of each (altered), breadth first by the number of such steps.
#pragma once

#include "verify/artefacts.hpp"
#include "verify/events.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::verify {

/// The matches over all streams.
struct Matching {
    std::vector<std::uint32_t> line_of; ///< by event: its first line, or `importing::nowhere`
    std::vector<bool> explained;        ///< by line
    std::array<std::uint64_t, artefact_count> artefacts{}; ///< events, by row of the table
    std::uint64_t in_vain = 0; ///< lines compared with an event that has none before an anchor

    Matching(std::size_t lines, std::size_t events)
        : line_of(events, importing::nowhere), explained(lines, false) {}
};

/// Adds the matches in `stream` to `matching`.
void align(const Stream& stream, std::span<const importing::Line> lines,
           std::span<const importing::Event> events, Matching& matching);

} // namespace mmioscope::verify
