// The part of a line after time and CPU, fitted to the width of a terminal. Each column has its
// place; what does not fit is cut, and ends with "..".
#pragma once

#include "mmioscope/event.hpp"
#include "system/text_buffer.hpp"
#include "view/column_line.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mmioscope::view {

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
