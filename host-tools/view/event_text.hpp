// Parts of an event as text, from which lines are made.
#pragma once

#include "mmioscope/event.hpp"
#include "system/text_buffer.hpp"
#include "view/column_line.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mmioscope::view {

namespace color {
inline constexpr std::string_view read = "32", write = "33", bad = "31", code = "36", mark = "1";
} // namespace color

/// `text` in a color if `style` has colors.
std::string colored(const LineStyle& style, std::string_view color, std::string_view text);

/// "R2", "W4".
std::string direction_text(const abi::Record& record);

/// The register, or the offset: "FR", "+0x018".
std::string register_or_offset(const LineStyle& style, const Event& event);

/// The meaning of the value: its fields, the interrupt that it names, and with_carried_out().
std::string meaning_text(const Event& event);
/// `text`, and what the command carries out: "REG=BMCR WRITE=1 -> MII_DATA[BMCR] 0x4100".
std::string with_carried_out(std::string text, const Event& event);

/// Function or PC, and mode, after a blank; or empty.
std::string function_of(const LineStyle& style, const Event& event);

/// The caller's function; or empty.
std::string caller_of(const LineStyle& style, const Event& event);

/// Both of these, with `<-` between them; or empty.
std::string code_of(const LineStyle& style, const Event& event);

/// "[sh:9]", or the task's address, after a blank; or empty.
std::string task_of(const LineStyle& style, const Event& event);

/// For a begin record whose access has no end there.
std::string_view begun_text(const LineStyle& style);

/// "<0.000001234>".
std::string duration_text(const LineStyle& style, const abi::Record& record);

bool value_known(const Event& event);

/// Whether all of it is there, and it is a stack.
bool is_stack(const Payload& payload);

/// Each further record of the event's payload has a line of its own; so has what is missing.
std::vector<Event> pieces_of(const Event& owner);

/// "0x0090", or "?".
std::string value_of(const Event& event);

/// For an event that is not a successful access; else empty.
std::string words_of(const LineStyle& style, const Event& event);

/// The device's name where there is little room, if it has one; or `device`.
std::string_view short_name(const LineStyle& style, std::string_view device);

/// The number of characters of UTF-8.
std::size_t width_of(std::string_view text);

/// What fits into `width` characters; if that is not all, it ends with "..".
std::string cut(std::string_view text, std::size_t width);

inline constexpr std::size_t least_cell = 4;    ///< characters; shorter cells are useless
inline constexpr std::size_t fields_width = 24; ///< of lines with names that are not fitted

/// Whether lines have names of registers, and fields.
inline bool shows_names(const LineStyle& style) {
    return style.named && !style.raw;
}

/// For registers, in lines that are not fitted; a longer text shifts the rest of its line.
inline std::size_t place_width(const LineStyle& style) {
    return shows_names(style) ? 14 : 6;
}

/// "pl011_putc+0x18", "open+0x4 [mmci]".
std::string code_text(const Location& location);

/// The function, or "[mmci]" if only the module is known.
std::string function_text(const Location& location);

// The part of a line after time and CPU, fitted to the width of a terminal. Each column has its
// place; what does not fit is cut, and ends with "..".

class FittedLine {
public:
    explicit FittedLine(const LineStyle& style);

    /// The titles of all columns, without line end.
    std::string titles() const;

    /// Appends an event that has a place, followed by all of `more`.
    void append(TextBuffer& to, const Event& event, std::string_view more) const;

    static constexpr std::size_t words_column = 18; ///< after time and CPU

    /// Appends all of `words`, on more lines if necessary. `column`: where they begin.
    void append_wrapped(TextBuffer& to, std::string_view words, std::size_t column) const;

private:
    /// The starts of columns, and the end of the last one.
    struct Columns {
        std::size_t device;
        std::size_t place;
        std::size_t value;
        std::size_t fields;
        std::size_t code;
        std::size_t end;
    };
    class Cells;

    void add_code(Cells& cells, const Event& event) const;

    LineStyle style_;
    Columns columns_;
};

} // namespace mmioscope::view
