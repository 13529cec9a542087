#include "page/tables.hpp"

#include "analysis/count_table.hpp"
#include "records/ticks.hpp"
#include "view/info.hpp"

#include <algorithm>
#include <string>

namespace mmioscope::page {

namespace {

constexpr std::size_t most_rows = 1000;
constexpr std::size_t most_spans = 20'000; ///< of a lane

bool is_number(table::Look look) {
    return look != table::Look::words && look != table::Look::device;
}

void append_table(Text& to, std::string_view title, const table::Table& table) {
    print(to, "\n{{\"title\":");
    append_json(to, title);
    std::vector<const table::Column*> shown;
    for (const table::Column& column : table.columns) {
        if (!column.title.empty()) {
            shown.push_back(&column);
        }
    }
    append_list(to, "columns", shown, [&to](const table::Column* column) {
        print(to, "{{\"name\":");
        append_json(to, column->name);
        print(to, ",\"title\":");
        append_json(to, column->title);
        print(to, ",\"number\":{}}}", is_number(column->look));
    });
    std::size_t rows = 0;
    print(to, ",\"rows\":[");
    table::each_row(table, [&](const table::Row& row) {
        if (rows++ < most_rows) {
            print(to, "{}\n", rows == 1 ? "" : ",");
            append_list(to, table::shown(table, row),
                        [&to](const std::string& cell) { append_json(to, cell); });
        }
    });
    std::string closing =
        rows > most_rows ? fmt::format("... {} more", rows - most_rows) : table.closing;
    for (const std::string& line : table.left_out) {
        closing += closing.empty() ? line : '\n' + line;
    }
    print(to, "],\"closing\":");
    append_json(to, closing);
    to.push_back('}');
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

void append_phases(Text& to, const table::Table& table) {
    print(to, "[\"phases\",[");
    std::size_t rows = 0;
    table::each_row(table, [&](const table::Row& row) {
        if (rows++ >= most_rows) {
            return;
        }
        const std::uint64_t begin = number(cell(table, row, "begin_ns"));
        print(to, "{}[{},{},", rows == 1 ? "" : ",", begin,
              begin + number(cell(table, row, "time_ns")));
        append_json(to, table::text_in(cell(table, row, "name")));
        print(to, ",{}]", number(cell(table, row, "event")));
    });
    print(to, "]]");
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
    if (spans_.size() < most_spans) {
        const Register* const reg = poll.read.reg();
        spans_.push_back(
            {poll.first.nanoseconds, poll.last.nanoseconds,
             fmt::format("{} {} {}, {} reads", analysis::kind_text(poll.kind), poll.read.device(),
                         reg != nullptr ? reg->name : "", poll.reads),
             poll.first.number});
    }
}

void Tables::write(Text& to, const trace::TraceReader& reader, const trace::Summary& summary) {
    const std::uint64_t length = begin_ > end_ ? 0 : end_ - begin_;
    const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
    const bool timed = frequency != 0 && reader.knows("duration");
    print(to, ",\n\"tables\":[");
    bool first = true;
    const auto put = [&](std::string_view title, const table::Table& table) {
        print(to, "{}", std::exchange(first, false) ? "" : ",");
        append_table(to, title, table);
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
    print(to, "],\n\"spans\":[");
    append_phases(to, phases);
    std::ranges::sort(spans_, {}, &Span::from);
    print(to, ",\n[\"polls\",");
    append_list(to, spans_, [&to](const Span& span) {
        print(to, "[{},{},", span.from, span.to);
        append_json(to, span.text);
        print(to, ",{}]", span.event);
    });
    print(to, "],\n[\"console\",");
    const std::uint64_t start = reader.start().value_or(0);
    const auto lines = reader.console().lines();
    append_list(to, lines.first(std::min(lines.size(), most_spans)), [&](const auto& line) {
        const std::uint64_t at = trace::nanoseconds(trace::elapsed(start, line.time), frequency);
        print(to, "[{},{},", at, at);
        append_json(to, line.text);
        print(to, ",0]");
    });
    print(to, "]]");
}

} // namespace mmioscope::page
