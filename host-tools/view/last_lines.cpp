#include "view/last_lines.hpp"

#include "export/csv.hpp"
#include "records/kinds.hpp"
#include "table/csv.hpp"
#include "table/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace mmioscope::view {

LastLines::LastLines(std::FILE* out, const KnownBoot& boot, Style style)
    : out_(out), style_(std::move(style)), frequency_(boot.area.header().counter_frequency),
      width_(tree::DeviceNames(boot.area.regions(), boot.tree).width()) {}

void LastLines::begin_unfinished(bool any) {
    fmt::print(out_, "unfinished: {}\n", any ? "" : "nothing");
}

void LastLines::begin_finished(std::size_t count) {
    fmt::print(out_, "the last {} before:\n", count);
}

void LastLines::begin(State state, const trace::TraceReader& reader) {
    if (!format_) {
        LineStyle style = style_(reader);
        style.task = false; // appended to each line
        format_.emplace(style);
    }
    if (state == State::finished) {
        fmt::print(out_, "{}\n", format_->titles());
    }
}

// For a finished access only the task's address is known: its name was in memory that now has other
// data. A begin record contains the address itself.
void LastLines::add(const Event& event, State state) {
    if (state == State::in_flight) {
        fmt::print(out_, "{}\n", in_flight(event));
        return;
    }
    TextBuffer line;
    format_->append(line, event);
    const bool with_task = state == State::finished && event.record.type != abi::RecordType::marker;
    fmt::print(out_, "{}{}\n", line.view(),
               with_task ? fmt::format(" task {:#x}", event.record.task) : "");
    if (event.payload_id != no_id && !is_stack(event.payload())) {
        std::ranges::for_each(pieces_of(event), [&](const Event& one) { add(one, state); });
    }
}

std::string LastLines::in_flight(const Event& event) const {
    const abi::Record& record = event.record;
    LineStyle style;
    style.frequency = frequency_;
    TextBuffer time;
    LineFormat(style).append_time(time, static_cast<std::int64_t>(event.nanoseconds), record.time);
    return fmt::format("{} cpu{} ?? {:<{}} +{:#05x} {:<10} {}(in flight; no begin record)",
                       time.view(), record.cpu, event.device(), width_, event.offset(), "?",
                       record.pc == 0 ? "" : fmt::format("pc {:#010x} ", record.pc));
}

namespace {

using exporting::Cell;

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
        columns[i] = std::ranges::find(known, exporting::columns[i].column) != known.end();
    }
    return columns;
}

} // namespace

LastRows::LastRows(std::FILE* out, const KnownBoot& boot, bool csv)
    : out_(out), csv_(csv),
      rows_(csv ? exporting::RowForm::csv : exporting::RowForm::json,
            {exporting::ColumnSet().set(), boot.area.header().counter_frequency}),
      in_flight_(csv ? exporting::RowForm::csv : exporting::RowForm::json,
                 {columns_in_flight(), boot.area.header().counter_frequency}) {
    fmt::print(out_, "{}",
               csv ? fmt::format("{},{}\n", exporting::csv_titles(), state_column)
                   : boot_json(boot));
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
