// Merges repeated events. A driver that polls a status register and then writes a data register, a
// thousand times, becomes two events with a count instead of two thousand events.
//
// A place is a PC, the register it accesses, and the kind of access. All records of one place in
// one window of time form a run, even if other records lie between them: loops are nested, and
// interrupts come in between. Runs keep the order of their first records; windows do not overlap. A
// window ends early if it has too many places, or where names become invalid (reading/naming.hpp).
#pragma once

#include "analysis/merger.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

class Collapse final : public Merger {
public:
    /// Passes each run to `next` once its window is over: unchanged if it is one event, otherwise
    /// as an event of type "repeat", with the field `last_value` if the last value differs from the
    /// first. `window` is in nanoseconds, like the events' times.
    Collapse(std::uint64_t window, reading::Consumer& next) : Merger(next), window_(window) {}

    /// A quarter of a second.
    static constexpr std::uint64_t usual_window = 250'000'000;

    void add(const Event& event) override;
    void release() override; ///< ends the window

private:
    /// The records of one place in one window.
    struct Run {
        Event first; ///< settled
        abi::Record last;
        std::uint64_t last_number;
        std::uint64_t last_nanoseconds;
        std::uint64_t count;
    };

    Run* find(const abi::Record& record);
    void give(const Run& run);

    static constexpr std::size_t most_places = 64;

    std::uint64_t window_;
    std::uint64_t start_ = 0; ///< time of the window's first event
    std::vector<Run> runs_;
};

} // namespace mmioscope::analysis
