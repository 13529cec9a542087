// One record as one line of text.
#pragma once

#include "lib/device_names.hpp"
#include "lib/marker_text.hpp"

#include "abi/record.hpp"

#include <cstdint>
#include <string>

namespace mmioscope::trace {

/// What lines need to know of their trace.
struct LineContext {
    const DeviceNames* names;    ///< never null
    std::uint64_t start = 0;     ///< CNTPCT that is printed as 0
    std::uint32_t frequency = 0; ///< Hz; 0 if not known: times are printed in ticks
};

/// Appends `record` to `to`, without a line end:
///     12.345678 cpu0 W2 serial@90000   +0x018 0x0090     pc 0xc0812344
void append_line(std::string& to, const abi::Record& record, const LineContext& context);

/// The same of a marker, whose text may have come in several records:
///     12.345678 cpu0 mark "before the second write"
void append_line(std::string& to, const Marker& marker, const LineContext& context);

/// The column titles of append_line.
std::string line_titles(const LineContext& context);

/// `ticks` since the start, as seconds with microseconds.
std::string format_time(std::uint64_t ticks, const LineContext& context);

} // namespace mmioscope::trace
