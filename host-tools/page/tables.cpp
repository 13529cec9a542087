#include "page/tables.hpp"

#include "analysis/count_table.hpp"
#include "page/json.hpp"
#include "records/ticks.hpp"
#include "view/info.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace mmioscope::page {

namespace {

constexpr std::size_t most_rows = 1000;
constexpr std::size_t most_spans = 20'000; ///< of a lane

bool is_number(table::Look look) {
    return look != table::Look::words && look != table::Look::device;
}

std::string table_json(std::string_view title, const table::Table& table) {
    auto shown = table.columns | std::views::filter([](const table::Column& column) {
                     return !column.title.empty();
                 });
    const std::string columns = json_list(shown, [](const table::Column& column) {
        return fmt::format("{{\"name\":{},\"title\":{},\"number\":{}}}", json(column.name),
                           json(column.title), is_number(column.look));
    });
    std::vector<std::string> rows;
    std::size_t more = 0;
    table::each_row(table, [&](const table::Row& row) {
        rows.size() < most_rows ? rows.push_back(json_list(table::shown(table, row)))
                                : void(++more);
    });
    std::string closing = more > 0 ? fmt::format("... {} more", more) : table.closing;
    for (const std::string& line : table.left_out) {
        closing += closing.empty() ? line : '\n' + line;
    }
    return fmt::format("{{\"title\":{},\"columns\":{},\"rows\":[\n{}],\"closing\":{}}}",
                       json(title), columns, fmt::join(rows, ",\n"), json(closing));
}

/// The cell of a column, by its name for programs.
const table::Cell& cell(const table::Table& table, const table::Row& row, std::string_view name) {
    const auto column = std::ranges::find(table.columns, name, &table::Column::name);
    return row[static_cast<std::size_t>(column - table.columns.begin())];
}

std::uint64_t number(const table::Cell& cell) {
    const auto* const number = std::get_if<std::uint64_t>(&cell);
    return number != nullptr ? *number : 0;
}

std::string spans_json(std::string_view title, const std::vector<Span>& spans) {
    return fmt::format("[\"{}\",{}]", title, json_list(spans, [](const Span& span) {
                           return fmt::format("[{},{},{},{}]", span.from, span.to, json(span.text),
                                              span.event);
                       }));
}

std::vector<Span> phase_spans(const table::Table& table) {
    std::vector<Span> spans;
    table::each_row(table, [&](const table::Row& row) {
        const std::uint64_t begin = number(cell(table, row, "begin_ns"));
        spans.push_back({begin, begin + number(cell(table, row, "time_ns")),
                         std::string(table::text_in(cell(table, row, "name"))),
                         number(cell(table, row, "event"))});
    });
    return spans;
}

std::vector<Span> console_spans(const trace::TraceReader& reader, std::uint32_t frequency) {
    std::vector<Span> spans;
    const auto lines = reader.console().lines();
    for (const auto& line : lines.first(std::min(lines.size(), most_spans))) {
        const std::uint64_t at =
            trace::nanoseconds(trace::elapsed(reader.start().value_or(0), line.time), frequency);
        spans.push_back({at, at, std::string(line.text), 0});
    }
    return spans;
}

std::vector<Span> log_spans(std::span<const analysis::DmesgLine> lines) {
    std::vector<Span> spans;
    for (const auto& line : lines.first(std::min(lines.size(), most_spans))) {
        const std::uint64_t at =
            static_cast<std::uint64_t>(std::max<std::int64_t>(line.nanoseconds, 0));
        spans.push_back({at, at, line.text, 0});
    }
    return spans;
}

} // namespace

void Tables::add_all(std::span<const Event> events) {
    for (reading::Consumer* one : all_) {
        one->add_all(events);
    }
    counts_.add(events);
    begin_ = std::min(begin_, events.front().nanoseconds);
    end_ = std::max(end_, events.back().nanoseconds);
}

void Tables::forget() {
    for (reading::Consumer* one : all_) {
        one->forget();
    }
    counts_.forget();
}

void Tables::finish() {
    for (reading::Consumer* one : all_) {
        one->finish();
    }
}

void Tables::take(const analysis::Poll& poll) {
    if (poll_spans_.size() < most_spans) {
        const Register* const reg = poll.read.reg();
        poll_spans_.push_back(
            {poll.first.nanoseconds, poll.last.nanoseconds,
             fmt::format("{} {} {}, {} reads", analysis::kind_text(poll.kind), poll.read.device(),
                         reg != nullptr ? reg->name : "", poll.reads),
             poll.first.number});
    }
}

std::string Tables::all(const trace::TraceReader& reader, const trace::Summary& summary,
                        std::span<const analysis::DmesgLine> kernel_log) {
    const std::uint64_t length = begin_ > end_ ? 0 : end_ - begin_;
    const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
    const bool timed = frequency != 0 && reader.knows("duration");
    std::vector<std::string> tables;
    const auto put = [&](std::string_view title, const table::Table& table) {
        tables.push_back(table_json(title, table));
    };
    if (timed) {
        put("Where the time went", time_.table(frequency));
    }
    const table::Table phases = phases_.table();
    put("Polls", polls_.table(most_rows));
    put("Phases", phases);
    put("Sharing", sharing_.table(most_rows / 5));
    put("Registers", registers_.table());
    const analysis::TableOptions look{timed ? analysis::Order::time : analysis::Order::accesses,
                                      most_rows,
                                      frequency == 0 ? 0 : length,
                                      0,
                                      timed ? frequency : 0,
                                      true,
                                      nullptr};
    for (const analysis::Key key : counts_.keys()) {
        put(fmt::format("By {}", analysis::key_text(key)),
            analysis::count_table(key, counts_.by(key), look));
    }
    const auto head = view::head_tables(reader, summary, end_);
    put("Recording", head[0]);
    put("Texts", head[1]);
    put("Losses", head[2]);
    std::ranges::sort(poll_spans_, {}, &Span::from);
    return fmt::format("\"tables\":[{}],\n\"spans\":[{},\n{},\n{},\n{}]", fmt::join(tables, ",\n"),
                       spans_json("phases", phase_spans(phases)), spans_json("polls", poll_spans_),
                       spans_json("kernel log", log_spans(kernel_log)),
                       spans_json("console", console_spans(reader, frequency)));
}

} // namespace mmioscope::page
