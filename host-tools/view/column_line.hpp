// A line with the columns that the user chose.
#pragma once

#include "mmioscope/event.hpp"
#include "system/text_buffer.hpp"
#include "view/line_style.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::view {

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
