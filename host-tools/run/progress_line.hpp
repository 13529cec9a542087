// One line on standard error that says how far a run is, where a person would see it.
#pragma once

#include "run/options.hpp"

#include <cstdint>

namespace mmioscope::run {

class ProgressLine {
public:
    explicit ProgressLine(const Options& options);

    /// `seconds` of wall time since the start, and the events so far. At most twice a second.
    void show(double seconds, std::uint64_t events);
    void clear();

private:
    bool visible_;
    double next_ = 0;
};

} // namespace mmioscope::run
