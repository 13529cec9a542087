// Merges repeated events: accesses that are equal in all but time and duration. A driver that reads
// a status a thousand times becomes one event with a count.
//
// Equal accesses to a register (4 bytes) in one window of time form a run, unless another access to
// it lies between them. Accesses to other registers may: loops are nested, and interrupts come in
// between. Runs keep the order of their first records; windows do not overlap. A window ends early
// if it has too many runs, or where names become invalid (reading/naming.hpp).
#pragma once

#include "analysis/merger.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

class Collapse final : public Merger {
public:
    /// Passes each run to `next` once its window is over: unchanged if it is one event, otherwise
    /// as an event of type "repeat". `window` is in nanoseconds, like the events' times.
    Collapse(std::uint64_t window, reading::Consumer& next) : Merger(next), window_(window) {}

    /// A quarter of a second.
    static constexpr std::uint64_t usual_window = 250'000'000;
    static constexpr std::size_t most_runs = 64; ///< in a window

    void add(const Event& event) override;
    void release() override; ///< ends the window

private:
    /// Equal records in one window.
    struct Repeat {
        Event first; ///< settled
        abi::Record last;
        std::uint64_t last_number;
        std::uint64_t last_nanoseconds;
        std::uint64_t count;
    };

    Repeat* find(const Event& event);
    void pass(const Repeat& run);

    std::uint64_t window_;
    std::uint64_t start_ = 0; ///< time of the window's first event
    std::vector<Repeat> runs_;
};

} // namespace mmioscope::analysis
