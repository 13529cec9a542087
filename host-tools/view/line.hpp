// One event as one line of text.
#pragma once

#include "mmioscope/event.hpp"
#include "reading/kept.hpp"
#include "system/text_buffer.hpp"
#include "view/column_line.hpp"
#include "view/event_text.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::view {

/// Keeps texts by the ids that they depend on, so most of a line is copied.
class LineFormat {
public:
    explicit LineFormat(const LineStyle& style);

    /// Numbers instead of names.
    bool raw() const { return style_.raw; }

    /// From now on lines are fitted to `width`, if they are fitted at all. Returns whether that is
    /// another one.
    bool fit(std::size_t width);

    /// The column titles.
    std::string titles() const;

    /// Appends lines of the first of `events`, with their ends, as long as a fast path applies; the
    /// result is that of append(). Returns the number of lines.
    std::size_t append_lines(TextBuffer& to, std::span<const Event> events);

    /// Appends `event` to `to`, without line end. Numbers replace unknown names:
    ///     12.345678 cpu0 R2 serial0  FR      0x0090     TXFE  pl011_putc+0x18 <- uart_write [sh:9]
    ///     12.345678 cpu0 R2 serial0  +0x018  0x0090     pc 0xc0812344 [0xc2165800]
    void append(TextBuffer& to, const Event& event);
    /// Likewise, followed by `more`. `before`: the register's value until then, if it is to be
    /// shown.
    void append(TextBuffer& to, const Event& event, std::string_view more,
                std::optional<std::uint64_t> before = {});
    /// As if the line of `event` had been appended.
    void pass(const Event& event) { before_ = static_cast<std::int64_t>(event.nanoseconds); }
    /// Likewise in two parts: time and CPU, which depend on the previous line, and the rest.
    void append_time(TextBuffer& to, const Event& event);
    void append_words(TextBuffer& to, const Event& event, std::string_view more = {});

    /// Appends the line's first column: `nanoseconds` since the trace's start.
    void append_time(TextBuffer& to, std::int64_t nanoseconds, std::uint64_t ticks);
    /// Appends `words` after it.
    void append_note(TextBuffer& to, std::string_view words) const;

    /// Ids of events become invalid.
    void forget() { values_.forget(), raw_.forget(); }

private:
    /// The text before and after a value.
    struct ContextText {
        BasicPiece<64> place; ///< direction, size, device, and the register or offset, with blanks
        bool has_fields = false;  ///< values may have a meaning
        BasicPiece<112> code;     ///< function, caller, task
        unsigned digits = 0;      ///< of a value
        bool is_short = false;    ///< digits and texts are short
        std::uint64_t beyond = 0; ///< bits of a value beyond the access's size
    };
    using FieldsText = BasicPiece<112>;

    template <bool raw>
    std::size_t append_quickly(TextBuffer& to, std::span<const Event> events);
    template <bool raw>
    bool append_quickly(TextCursor& to, const Event& event);
    void append_event(TextBuffer& to, const Event& event);
    void append_access(TextBuffer& to, const Event& event);
    void append_value(TextBuffer& to, const Event& event);
    void append_fields(TextBuffer& to, const Event& event, const ContextText& text);
    void append_rest(TextBuffer& to, const Event& event);
    void append_colored(TextBuffer& to, std::string_view color, std::string_view text) const;

    /// The ids for ContextText in a raw line, which shows no names but the device's.
    struct RawContext {
        RawContext() = default;
        RawContext(Id place, const abi::Record& record)
            : place_and_pc(std::uint64_t{place} << 32 | record.pc),
              task_and_mode(std::uint64_t{record.task} << 8 | record.mode) {}

        std::uint64_t place_and_pc = 0;
        std::uint64_t task_and_mode = 0;
        bool operator==(const RawContext&) const = default;
        std::uint64_t hash() const {
            return reading::mixed(place_and_pc ^ std::rotl(task_and_mode, 20)) >> 40;
        }
    };
    template <bool raw>
    const ContextText& context_text(const Event& event);
    const ContextText& context_text(const Event& event);
    bool begin_millisecond(std::uint64_t nanoseconds);
    void make(ContextText& text, const Event& event);
    void make(FieldsText& text, const Event& event);
    const FieldsText& value_text(const Event& event);

    LineStyle style_;
    std::optional<FittedLine> fitted_; ///< if lines have a width
    std::optional<ColumnLine> chosen_; ///< if the user chose columns
    bool quick_;                       ///< the fast path applies
    std::size_t fields_width_;
    std::optional<std::int64_t> before_; ///< time of the previous line
    std::uint64_t millis_begin_ = 0;     ///< ns; start of that line's millisecond
    std::array<char, 16> millis_text_{' ', ' ', ' ', ' ', '0', '.', '0', '0', '0'};

    reading::KeptByContext<ContextText, 1024> contexts_;
    ContextText other_context_;
    reading::KeptByKey<RawContext, ContextText, 1024> raw_;
    reading::KeptByKey<reading::PlaceAndValue, FieldsText, 1024> values_; ///< meanings of values
    FieldsText other_value_;
};

} // namespace mmioscope::view
