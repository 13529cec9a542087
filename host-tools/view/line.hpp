// One event as one line of text.
#pragma once

#include "mmioscope/event.hpp"
#include "reading/kept.hpp"
#include "system/text_buffer.hpp"
#include "view/event_text.hpp"
#include "view/fitted_line.hpp"
#include "view/line_style.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::view {

/// Texts stand beside the ids that they are of, so that a line is mostly copied.
class LineFormat {
public:
    explicit LineFormat(const LineStyle& style);

    /// Numbers instead of names.
    bool raw() const { return style_.raw; }

    /// The column titles.
    std::string titles() const;

    /// Appends lines of the first of `events`, with their ends, as long as that is done quickly: as
    /// append() makes them. Returns of how many.
    std::size_t append_lines(TextBuffer& to, std::span<const Event> events);

    /// Appends `event` to `to`, without a line end. Names stand where the numbers would if they are
    /// not known:
    ///     12.345678 cpu0 R2 serial0  FR      0x0090     TXFE  pl011_putc+0x18 <- uart_write [sh:9]
    ///     12.345678 cpu0 R2 serial0  +0x018  0x0090     pc 0xc0812344 [0xc2165800]
    void append(TextBuffer& to, const Event& event);
    /// The same with `more` behind it.
    void append(TextBuffer& to, const Event& event, std::string_view more);
    /// The same in two parts: time and CPU, which depend on the line before, and all else.
    void append_time(TextBuffer& to, const Event& event);
    void append_words(TextBuffer& to, const Event& event, std::string_view more = {});

    /// Appends the line's first column: `nanoseconds` since the trace's start.
    void append_time(TextBuffer& to, std::int64_t nanoseconds, std::uint64_t ticks);
    /// Appends `words` behind it.
    void append_note(TextBuffer& to, std::string_view words) const;

    /// Ids of events mean nothing from now on.
    void forget() { values_.forget(), raw_.forget(); }

private:
    /// What stands in front of a value and behind it.
    struct ContextText {
        BasicPiece<64> place; ///< direction, size, device, and the register or offset, with blanks
        std::uint32_t place_size = 0; ///< of the last of these, and blanks
        bool has_fields = false;      ///< values may say something
        BasicPiece<112> code;         ///< function, caller, task
        unsigned digits = 0;          ///< of a value
        bool is_short = false;        ///< these and the texts are
        std::uint64_t beyond = 0;     ///< bits of a value beyond the access's size
    };
    using FieldsText = BasicPiece<112>;

    template <bool raw>
    std::size_t append_quickly(TextBuffer& to, std::span<const Event> events);
    template <bool raw>
    bool append_quickly(TextCursor& to, const Event& event);
    void append_event(TextBuffer& to, const Event& event);
    void append_access(TextBuffer& to, const Event& event);
    void append_place(TextBuffer& to, const ContextText& text) const;
    void append_value(TextBuffer& to, const Event& event);
    void append_fields(TextBuffer& to, const Event& event, const ContextText& text);
    void append_rest(TextBuffer& to, const Event& event);
    void append_colored(TextBuffer& to, std::string_view color, std::string_view text) const;

    /// What ContextText depends on in a raw line, which shows no names but the device's.
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
    std::optional<FittedLine> fitted_; ///< where lines have a width
    bool quick_;                       ///< lines may be appended quickly
    std::size_t place_width_ = 6;
    std::size_t fields_width_ = 0;
    std::optional<std::int64_t> before_; ///< time of the line before
    std::uint64_t millis_begin_ = 0;     ///< ns; the millisecond that it was in
    std::array<char, 16> millis_text_{' ', ' ', ' ', ' ', '0', '.', '0', '0', '0'};

    reading::KeptByContext<ContextText, 1024> contexts_;
    ContextText other_context_;
    reading::KeptByKey<RawContext, ContextText, 1024> raw_;
    reading::KeptByKey<reading::PlaceAndValue, FieldsText, 1024> values_; ///< what values say
    FieldsText other_value_;
};

} // namespace mmioscope::view
