// The columns of exports: those fields of an event (filter/field.hpp) that have one.
#pragma once

#include "file/trace_reader.hpp"
#include "filter/field.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <string_view>

namespace mmioscope::exporting {

using filter::field_words, filter::flag_words, filter::code_words, filter::source_words;
using filter::Number;
using filter::payload_words, filter::plain_text, filter::lone_field;
using table::Cell;
using table::Hex;
using trace::has_bus_value;
using trace::type_word;
using Column = filter::EventField;

inline constexpr auto columns = [] {
    constexpr auto is_column = [](const Column& field) { return !field.column.empty(); };
    std::array<Column, std::ranges::count_if(filter::fields, is_column)> all{};
    std::ranges::copy_if(filter::fields, all.begin(), is_column);
    return all;
}();
using ColumnSet = std::bitset<columns.size()>;

/// The cells of a trace's events.
struct Cells {
    Cells() = default;
    /// `frequency` is that of the trace's counter, in Hz.
    Cells(const ColumnSet& known, std::uint32_t frequency)
        : known(known), context{trace::TickLength(frequency)} {}
    explicit Cells(const trace::TraceReader& reader);

    Cell of(std::size_t column, const Event& event) const;

    ColumnSet known; ///< the columns that the trace can fill; the others stay empty
    filter::Context context;
};

} // namespace mmioscope::exporting
