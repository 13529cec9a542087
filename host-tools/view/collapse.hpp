// Takes the repetition out of a stream of records. A driver that polls a status register and
// then writes a data register, a thousand times, is two lines with a count rather than two
// thousand lines.
//
// A place is a PC with the register it accesses and how. In a window of time, as long as there
// are not too many different ones, all records of a place are one run, whatever lies between
// them: loops are nested, and interrupts come in between. Runs keep the order of their first
// records; windows do not overlap.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace mmioscope::view {

/// The records of one place in one window.
struct Run {
    Event first; ///< settled
    abi::Record last;
    std::uint64_t count;
};

class Collapse {
public:
    /// `print` gets each run once its window is over. `window` in nanoseconds, as the events'
    /// times.
    Collapse(std::uint64_t window, std::function<void(const Run&)> print)
        : window_(window), print_(std::move(print)) {}

    void add(const Event& event);

    /// Ends the window: nothing came for a while, or the stream is over.
    void flush();

private:
    Run* find(const abi::Record& record);

    static constexpr std::size_t most_places = 64;

    std::uint64_t window_;
    std::uint64_t start_ = 0; ///< time of the window's first event
    std::function<void(const Run&)> print_;
    std::vector<Run> runs_;
};

} // namespace mmioscope::view
