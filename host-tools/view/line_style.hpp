// What lines of events look like.
#pragma once

#include "file/trace_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace mmioscope::view {

enum class TimeStyle {
    relative, ///< seconds since the trace's first record
    absolute, ///< seconds of the machine's counter
    delta,    ///< seconds since the line before
};

struct LineStyle {
    TimeStyle time = TimeStyle::relative;
    bool raw = false;              ///< numbers only, as they are in the record
    bool color = false;            ///< escape sequences of a terminal
    bool pc = true;                ///< code addresses, or what stands there
    bool task = true;              ///< the address of a task, too, that has no name
    bool duration = false;         ///< at the end, how long an access took
    bool selected = false;         ///< of some events only: an access's end may be among the others
    std::uint32_t frequency = 0;   ///< of the counter, Hz; 0 if not known: times are ticks
    std::size_t device_width = 12; ///< characters of the longest device's name
    std::size_t width = SIZE_MAX;  ///< characters of a line; fitted_line.hpp says how they fit
    std::map<std::string, std::string, std::less<>> short_names; ///< of devices, where they must
};

/// What a trace's lines are like, its choices as they are if nobody chose.
LineStyle style_of(const trace::TraceReader& reader);

/// Lines of `style` fit a terminal of `width` characters, with short names for the devices.
void fit(LineStyle& style, const trace::TraceReader& reader, std::size_t width);

} // namespace mmioscope::view
