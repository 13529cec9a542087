// What stands behind an event's time and CPU, in no more characters than a terminal has. Each
// column has its place; what does not fit is cut, and ends with "..".
#pragma once

#include "mmioscope/event.hpp"
#include "system/text_buffer.hpp"
#include "view/line_style.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mmioscope::view {

class FittedLine {
public:
    explicit FittedLine(const LineStyle& style);

    /// Of all columns, without a line end.
    std::string titles() const;

    /// Appends an event that has a place. `more` is shown whole, behind it.
    void append(TextBuffer& to, const Event& event, std::string_view more) const;

    static constexpr std::size_t words_column = 18; ///< behind time and CPU

    /// Appends `words`, all of them: on more lines if they must be. `column`: where they begin.
    void append_wrapped(TextBuffer& to, std::string_view words, std::size_t column) const;

private:
    /// Where columns begin, and the last one ends.
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
    std::string_view short_name(std::string_view device) const;

    LineStyle style_;
    Columns columns_;
};

} // namespace mmioscope::view
