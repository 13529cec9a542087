#include "record/rate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::record {

std::string Rate::text(double seconds, std::uint64_t events, std::uint64_t bytes) {
    const double span = std::max(seconds - seconds_, 1e-3);
    const double per_event =
        events == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(events);
    std::string line = fmt::format("{} events, {:.0f}/s; {:.0f} bytes/s, {:.2f} bytes per event",
                                   events, static_cast<double>(events - events_) / span,
                                   static_cast<double>(bytes - bytes_) / span, per_event);
    seconds_ = seconds;
    events_ = events;
    bytes_ = bytes;
    return line;
}

} // namespace mmioscope::record
