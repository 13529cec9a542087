// What tables need to know of their trace, and its times as text.
#pragma once

#include "lib/device_names.hpp"

#include <cstdint>
#include <string>

namespace mmioscope::trace {

struct ReportContext {
    const DeviceNames* names;    ///< never null
    std::uint64_t start = 0;     ///< CNTPCT that is printed as 0
    std::uint32_t frequency = 0; ///< Hz; 0 if not known: times are printed in ticks
};

/// A duration in seconds, with microseconds; in ticks if the frequency is not known.
std::string format_duration(std::uint64_t ticks, const ReportContext& context);

/// The time since the start at `ticks`, in the same way.
std::string format_time(std::uint64_t ticks, const ReportContext& context);

} // namespace mmioscope::trace
