// A line with the columns that the user chose.
#pragma once

#include "file/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "system/text_buffer.hpp"
#include "tree/device_names.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::view {

// The columns of event lines that a user can choose.

/// In the order of the usual line.
enum class Column : std::uint8_t {
    time,
    cpu,
    rw, ///< direction and size
    device,
    reg,
    value,
    fields,   ///< what the value means
    function, ///< of the guest's code, or the PC
    caller,
    task,
    duration,
};

/// Their names, in the same order.
inline constexpr std::array<std::string_view, 11> column_names = {
    "time",   "cpu",      "rw",     "device", "reg",     "value",
    "fields", "function", "caller", "task",   "duration"};

// The look of event lines.

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
    std::size_t width = SIZE_MAX;  ///< length of a line; event_text.hpp says how it is fitted
    tree::ShortNames short_names;  ///< of devices, for little room
};

/// The default style for a trace.
LineStyle style_of(const trace::TraceReader& reader);

/// The short names of the trace's devices, for lines of `width` characters; none if that is
/// table::unlimited.
tree::ShortNames short_names(const trace::TraceReader& reader, std::size_t width);

/// Fits lines of `style` to a terminal of `width` characters, with short names for the devices.
void fit(LineStyle& style, const trace::TraceReader& reader, std::size_t width);

class ColumnLine {
public:
    /// Each of `style.columns` has a fixed width. If they do not fit into the style's width, first
    /// task, caller and function are shortened or left out, then fields, device and the others,
    /// and last value and register.
    explicit ColumnLine(const LineStyle& style);

    /// Whether such a line can show `event`; others are lines of words.
    static bool has(const Event& event);

    std::string titles() const;

    /// Appends an event, without line end. `time`: its first column; `more`: text after the last
    /// one; `before`: the register's value until then, to show what changes.
    void append(TextBuffer& to, std::string_view time, const Event& event, std::string_view more,
                std::optional<std::uint64_t> before) const;

private:
    struct Placed {
        Column column;
        std::size_t width;
    };
    std::string cell(Column column, const Event& event, std::optional<std::uint64_t> before) const;

    LineStyle style_; ///< without color
    bool color_;
    std::vector<Placed> columns_;
};

} // namespace mmioscope::view
