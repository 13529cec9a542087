#include "view/last_rows.hpp"

#include "records/kinds.hpp"
#include "table/csv.hpp"
#include "table/json.hpp"

#include <algorithm>
#include <array>

namespace mmioscope::view {

namespace {

using exporting::Cell;
using exporting::Column;

constexpr std::string_view state_column = "state";

Cell state_cell(const Event& event, State state) {
    switch (state) {
    case State::in_flight: return std::string_view("in-flight");
    case State::unfinished: return std::string_view("unfinished");
    default: break;
    }
    return trace::has_place(event.record.type) ? Cell(std::string_view("finished")) : Cell();
}

exporting::ColumnSet columns_in_flight() {
    constexpr std::array<std::string_view, 8> known = {"ns",     "ticks",  "cpu",     "type",
                                                       "device", "offset", "address", "pc"};
    exporting::ColumnSet columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        columns[i] = std::ranges::find(known, exporting::columns[i].name) != known.end();
    }
    return columns;
}

exporting::RowForm form(bool csv) {
    return csv ? exporting::RowForm::csv : exporting::RowForm::json;
}

std::string csv_titles() {
    std::string titles;
    for (const Column& column : exporting::columns) {
        titles.append(column.name).push_back(',');
    }
    return titles.append(state_column) + "\n";
}

} // namespace

LastRows::LastRows(std::FILE* out, const KnownBoot& boot, bool csv)
    : out_(out), csv_(csv),
      rows_(form(csv), exporting::ColumnSet().set(), boot.area.header().counter_frequency),
      in_flight_(form(csv), columns_in_flight(), boot.area.header().counter_frequency) {
    fmt::print(out_, "{}", csv ? csv_titles() : boot_json(boot));
}

void LastRows::add(const Event& event, State state) {
    fmt::memory_buffer row;
    (state == State::in_flight ? in_flight_ : rows_).append(row, event);
    if (csv_) {
        row.push_back(',');
        table::append_csv(row, state_cell(event, state));
    } else {
        row.resize(row.size() - 1); // continue before the closing brace
        table::append_json(row, state_column, state_cell(event, state));
        row.push_back('}');
    }
    fmt::print(out_, "{}\n", fmt::to_string(row));
}

} // namespace mmioscope::view
