// The look of event lines.
#pragma once

#include "file/trace_reader.hpp"
#include "tree/short_names.hpp"
#include "view/column.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::view {

enum class TimeStyle {
    relative, ///< seconds since the trace's first record
    absolute, ///< seconds of the machine's counter
    delta,    ///< seconds since the previous line
};

struct LineStyle {
    TimeStyle time = TimeStyle::relative;
    bool raw = false;              ///< only numbers, as in the record
    bool named = false;            ///< registers may have names: their columns have room for them
    std::vector<Column> columns;   ///< of an access; empty: the usual ones
    bool changes = false;          ///< values may be changes: `columns` have room for them
    bool color = false;            ///< escape sequences of a terminal
    bool pc = true;                ///< code addresses, or their names
    bool task = true;              ///< also the address of a task without a name
    bool duration = false;         ///< the duration of an access, at the end
    bool selected = false;         ///< only some events: an access's end may be missing
    std::uint32_t frequency = 0;   ///< of the counter, Hz; 0 if unknown: times are ticks
    std::uint32_t pc_high = 0;     ///< upper half of code addresses; 0: they have 32 bits
    std::size_t device_width = 12; ///< length of the longest device name
    std::size_t width = SIZE_MAX;  ///< length of a line; fitted_line.hpp says how it is fitted
    tree::ShortNames short_names;  ///< of devices, for little room
};

/// The default style for a trace.
LineStyle style_of(const trace::TraceReader& reader);

/// The short names of the trace's devices, for lines of `width` characters; none if that is
/// table::unlimited.
tree::ShortNames short_names(const trace::TraceReader& reader, std::size_t width);

/// Fits lines of `style` to a terminal of `width` characters, with short names for the devices.
void fit(LineStyle& style, const trace::TraceReader& reader, std::size_t width);

} // namespace mmioscope::view
