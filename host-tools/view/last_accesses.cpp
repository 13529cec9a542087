#include "view/last_accesses.hpp"

#include "reading/drive.hpp"
#include "records/kinds.hpp"
#include "table/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace mmioscope::view {

namespace {

/// Shows those of one state, as a separate trace.
class Show final : public reading::Consumer {
public:
    Show(State state, LastAccessesOutput& output) : state_(state), output_(output) {}

    void add(const Event& event) override {
        if (event.record.type != abi::RecordType::marker || event.text_id() != no_id) {
            output_.add(event, state_);
        }
    }
    void add_unended(const Event& marker) override { output_.add(marker, state_); }

private:
    State state_;
    LastAccessesOutput& output_;
};

void show_all(const KnownBoot& boot, std::span<const abi::Record> records, State state,
              reading::TraceOptions chosen, LastAccessesOutput& output) {
    chosen.start = 0;
    const FileDescriptor file = rings::as_trace(boot.area, boot.tree, records);
    FileSource source(file.get());
    reading::Trace trace(chosen, source);
    output.begin(state, trace.reader());
    Show show(state, output);
    reading::drive(trace, {&show});
}

// For in-flight accesses only the choice of CPUs applies, not the filter.
reading::TraceOptions only_cpus(const reading::TraceOptions& chosen) {
    reading::TraceOptions only = chosen;
    only.filter.clear();
    only.from.reset();
    only.to.reset();
    return only;
}

} // namespace

void show(const KnownBoot& boot, const rings::LastAccesses& last,
          const reading::TraceOptions& chosen, LastAccessesOutput& output) {
    output.begin_unfinished(!last.unfinished.empty());
    std::vector<abi::Record> in_flight;
    std::vector<abi::Record> described;
    for (const rings::Unfinished& access : last.unfinished) {
        (access.described ? described : in_flight).push_back(access.record);
    }
    for (abi::Record& record : in_flight) {
        record.type = abi::RecordType::begin;
    }
    std::ranges::stable_sort(described, {}, &abi::Record::time);
    if (!in_flight.empty()) {
        show_all(boot, in_flight, State::in_flight, only_cpus(chosen), output);
    }
    if (!described.empty()) {
        show_all(boot, described, State::unfinished, chosen, output);
    }
    output.begin_finished(last.records.size());
    show_all(boot, last.records, State::finished, chosen, output);
}

namespace {

std::string id_of(const abi::AreaHeader& header) {
    return fmt::format("{:02x}", fmt::join(header.boot_id, ""));
}

std::string board_of(const abi::AreaHeader& header) {
    return {header.board, ::strnlen(header.board, sizeof header.board)};
}

bool stopped(const abi::AreaHeader& header) {
    return header.state == abi::AreaState::panicked;
}

// Why nothing of an earlier boot was kept; empty if something was, or if the reason says nothing.
std::string_view why_not_kept(abi::Kept kept) {
    switch (kept) {
    case abi::Kept::damaged: return "the records of the previous boot were damaged";
    case abi::Kept::other_layout: return "the records of the previous boot had another layout";
    case abi::Kept::no_room: return "the area is too small to keep a previous boot";
    default: return "";
    }
}

} // namespace

std::string boot_line(const KnownBoot& boot) {
    const abi::AreaHeader& header = boot.area.header();
    const std::string_view why = why_not_kept(header.kept);
    return fmt::format("{}, id {}, {}, {} CPUs{}{}{}\n", boot.which, id_of(header),
                       board_of(header), header.cpu_count,
                       stopped(header) ? ", the hypervisor had stopped" : "",
                       why.empty() ? "" : "; ", why);
}

std::string boot_json(const KnownBoot& boot) {
    const abi::AreaHeader& header = boot.area.header();
    const std::string_view why = why_not_kept(header.kept);
    fmt::memory_buffer text;
    text.push_back('{');
    table::append_json(text, "type", std::string_view("boot"));
    table::append_json(text, "format", std::uint64_t{1});
    table::append_json(text, "which", boot.which);
    table::append_json(text, "boot_id", id_of(header));
    table::append_json(text, "board", board_of(header));
    table::append_json(text, "ticks_per_second", std::uint64_t{header.counter_frequency});
    table::append_json(text, "cpus", std::uint64_t{header.cpu_count});
    table::append_json(text, "stopped", stopped(header));
    table::append_json(text, "not_kept", why.empty() ? table::Cell() : table::Cell(why));
    text.append(std::string_view("}\n"));
    return fmt::to_string(text);
}

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
