#include "verify/align.hpp"

#include "verify/detour.hpp"

#include <algorithm>

namespace mmioscope::verify {

namespace {

class Aligner {
public:
    Aligner(const StreamPair& pair, Matching& matching) : pair_(pair), matching_(matching) {}

    void run() {
        Place place{0, 0};
        unsigned patience = 20; // both sides of different runs never agree: do not try for ever
        while (!pair_.at_end(place) && patience > 0) {
            if (const Match match = pair_.match(place)) {
                keep(place, match);
                continue;
            }
            std::optional<std::vector<Step>> way = find_detour(pair_, place);
            if (!way) {
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

    StreamPair pair_;
    Matching& matching_;
};

} // namespace

void align(const Stream& stream, std::span<const Line> lines, std::span<const Event> events,
           Matching& matching) {
    const StreamPair pair{Ahead<Line>(lines, stream.lines), Ahead<Event>(events, stream.events)};
    Aligner(pair, matching).run();
}

} // namespace mmioscope::verify
