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

/// What a lane shows of a span of time, in ns. `event`: number of its first; 0: none.
std::string span_json(std::uint64_t from, std::uint64_t to, std::string_view text,
                      std::uint64_t event) {
    return fmt::format("[{},{},{},{}]", from, to, json(text), event);
}

/// Lines of a log, at their times in ns.
template <typename Lines, typename At>
std::string moments_json(const Lines& lines, const At& at) {
    return json_list(lines | std::views::take(most_spans), [&at](const auto& line) {
        return span_json(at(line), at(line), line.text, 0);
    });
}

} // namespace

void Tables::add(const analysis::Poll& poll) {
    if (poll_spans_.size() < most_spans) {
        const Register* const reg = poll.read.reg();
        poll_spans_.push_back(
            span_json(poll.first.nanoseconds, poll.last.nanoseconds,
                      fmt::format("{} {} {}, {} reads", analysis::kind_text(poll.kind),
                                  poll.read.device(), reg != nullptr ? reg->name : "", poll.reads),
                      poll.first.number));
    }
}

std::string Tables::all(const trace::TraceReader& reader, const trace::Summary& summary,
                        std::span<const analysis::DmesgLine> kernel_log) {
    const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
    const std::uint64_t start = reader.start().value_or(0);
    const auto time_of = [&](std::uint64_t ticks) {
        return trace::nanoseconds(trace::elapsed(start, ticks), frequency);
    };
    const std::uint64_t end = time_of(summary.last().value_or(start));
    const std::uint64_t length = end - time_of(summary.start().value_or(start));
    const bool timed = frequency != 0 && reader.knows("duration");
    std::vector<std::string> tables;
    const auto put = [&](std::string_view title, const table::Table& table) {
        tables.push_back(table_json(title, table));
    };
    put("Findings", advisor_.table(timed ? frequency : 0));
    if (timed) {
        put("Where the time went", time_.table(frequency));
    }
    put("Polls", advisor_.polls().table(most_rows));
    put("Phases", phases_.table());
    put("Sharing", advisor_.sharing().table(most_rows / 5));
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
    const auto head = view::head_tables(reader, summary, end);
    put("Recording", head[0]);
    put("Texts", head[1]);
    put("Losses", head[2]);
    const std::string log = moments_json(kernel_log, [](const analysis::DmesgLine& line) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(line.nanoseconds, 0));
    });
    const std::string console = moments_json(reader.console().lines(),
                                             [&](const auto& line) { return time_of(line.time); });
    return fmt::format(
        "\"tables\":[{}],\n\"spans\":[[\"polls\",[{}]],\n[\"kernel log\",{}],\n[\"console\",{}]]",
        fmt::join(tables, ",\n"), fmt::join(poll_spans_, ","), log, console);
}

} // namespace mmioscope::page
