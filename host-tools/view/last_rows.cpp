#include "view/last_rows.hpp"

#include "export/csv.hpp"
#include "export/jsonl.hpp"
#include "lib/record_text.hpp"
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

std::vector<Column> columns_in_flight() {
    constexpr std::array<std::string_view, 8> known = {"ns",     "ticks",  "cpu",     "type",
                                                       "device", "offset", "address", "pc"};
    std::vector<Column> columns(exporting::columns().begin(), exporting::columns().end());
    for (Column& column : columns) {
        if (std::ranges::find(known, column.name) == known.end()) {
            column.cell = [](const Event&, std::uint32_t) { return Cell(); };
        }
    }
    return columns;
}

std::string csv_titles() {
    std::string titles;
    for (const Column& column : exporting::columns()) {
        titles.append(column.name).push_back(',');
    }
    return titles.append(state_column) + "\n";
}

} // namespace

LastRows::LastRows(std::FILE* out, const KnownBoot& boot, bool csv)
    : out_(out), frequency_(boot.area.header().counter_frequency), csv_(csv),
      in_flight_(columns_in_flight()) {
    fmt::print(out_, "{}", csv ? csv_titles() : boot_json(boot));
}

void LastRows::add(const Event& event, State state) {
    const auto columns =
        state == State::in_flight ? std::span<const Column>(in_flight_) : exporting::columns();
    fmt::memory_buffer row;
    if (csv_) {
        exporting::append_csv(row, event, frequency_, columns);
        row.push_back(',');
        table::append_csv(row, state_cell(event, state));
    } else {
        exporting::append_json(row, event, frequency_, columns);
        row.resize(row.size() - 1); // goes on in front of its brace
        table::append_json(row, state_column, state_cell(event, state));
        row.push_back('}');
    }
    fmt::print(out_, "{}\n", fmt::to_string(row));
}

} // namespace mmioscope::view
