// One event as one line of text.
#pragma once

#include "lib/trace_reader.hpp"
#include "mmioscope/event.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
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
    std::uint32_t frequency = 0;   ///< of the counter, Hz; 0 if not known: times are ticks
    std::size_t device_width = 12; ///< characters of the longest device's name
};

/// What a trace's lines are like, its choices as they are if nobody chose.
LineStyle style_of(const trace::TraceReader& reader);

class LineFormat {
public:
    explicit LineFormat(const LineStyle& style) : style_(style) {}

    /// Numbers instead of names.
    bool raw() const { return style_.raw; }

    /// The column titles.
    std::string titles() const;

    /// Appends `event` to `to`, without a line end. Names stand where the numbers would if they are
    /// not known:
    ///     12.345678 cpu0 R2 serial0  FR      0x0090     TXFE  pl011_putc+0x18 <- uart_write [sh:9]
    ///     12.345678 cpu0 R2 serial0  +0x018  0x0090     pc 0xc0812344 [0xc2165800]
    void append(std::string& to, const Event& event);

    /// `nanoseconds` since the trace's start, in the line's first column.
    std::string time(std::int64_t nanoseconds, std::uint64_t ticks);

    /// Ids of events mean nothing from now on.
    void forget() {}

private:
    void append_event(std::string& to, const Event& event);
    void append_access(std::string& to, const Event& event);
    void append_place(std::string& to, const Event& event);
    void append_value(std::string& to, const Event& event);
    void append_fields(std::string& to, const Event& event);
    void append_code(std::string& to, const Event& event) const;
    void append_task(std::string& to, const Event& event) const;
    void append_rest(std::string& to, const Event& event);
    void append_duration(std::string& to, const abi::Record& record) const;
    void colored(std::string& to, const char* color, const std::string& text) const;

    LineStyle style_;
    std::size_t place_width_ = 6;
    std::size_t fields_width_ = 0;
    std::optional<std::int64_t> before_; ///< time of the line before
};

/// "pl011_putc+0x18", "open+0x4 [mmci]".
std::string code_text(const Location& location);

/// The function, or "[mmci]" where only the module is known.
std::string function_text(const Location& location);

} // namespace mmioscope::view
