// The speed of a recording, for the progress line.
#pragma once

#include <cstdint>
#include <string>

namespace mmioscope::record {

class Rate {
public:
    /// The totals, and the speed since the last call. `seconds` since the start.
    std::string text(double seconds, std::uint64_t events, std::uint64_t bytes);

private:
    double seconds_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t bytes_ = 0;
};

} // namespace mmioscope::record
