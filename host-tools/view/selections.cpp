#include "view/tables.hpp"
#include "records/ticks.hpp"

#include <algorithm>

namespace mmioscope::view {

namespace {

using table::Cell;
using trace::ReportContext;
using trace::Traced;
using trace::TracedHistory;

std::string_view word(Traced traced) {
    return traced == Traced::yes ? "yes" : traced == Traced::no ? "no" : "in part";
}

/// The part of a history to show: its first changes, and the last one.
struct Shown {
    explicit Shown(const TracedHistory& history) {
        const bool all = history.count == history.first.size();
        first = std::span(history.first).first(history.first.size() - (all ? 0 : 1));
        last = all ? nullptr : &history.last;
        left_out = all ? 0 : history.count - first.size() - 1;
    }

    std::span<const TracedHistory::Change> first;
    const TracedHistory::Change* last; ///< null: it is among the first
    std::uint64_t left_out;            ///< changes in between
};

/// Calls `take` with the name and the history of each region that changed.
template <typename Take>
void each(const trace::Selections& selections, const ReportContext& context, std::size_t regions,
          const Take& take) {
    for (std::size_t i = 0; i < regions; ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        if (const TracedHistory* const history = selections.of(index)) {
            take((*context.names)[index], *history);
        }
    }
    if (selections.of_all() != nullptr) {
        take("all", *selections.of_all());
    }
}

std::vector<Cell> row(std::string_view name, Traced now, Cell from = {}, Cell left_out = {}) {
    return {std::string_view("selection"), std::string(name), word(now), std::move(from),
            std::move(left_out)};
}

void append(table::Table& to, std::string_view name, const TracedHistory& history,
            const ReportContext& context) {
    const auto since = [&context](std::uint64_t time) {
        return trace::nanoseconds(time - std::min(time, context.start), context.frequency);
    };
    const Shown shown(history);
    to.rows.push_back(row(name, history.at_first));
    for (const TracedHistory::Change& change : shown.first) {
        to.rows.push_back(row(name, change.now, since(change.time)));
    }
    if (shown.last != nullptr) {
        to.rows.push_back(row(name, shown.last->now, since(shown.last->time), shown.left_out));
    }
}

} // namespace

table::Table selection_table(const trace::Selections& selections, const ReportContext& context,
                             std::size_t regions) {
    using enum table::Look;
    const bool ticks = context.frequency == 0;
    table::Table table{
        {{"about"},
         {"name", "changed", words, 12},
         {"traced", "traced", words, 7},
         {"from_ns", ticks ? "from tick" : "from s", ticks ? number : seconds, 12, 0, "", ""},
         {"left_out", "left out before", number, 0, 0, " changes", ""}},
        {}};
    each(selections, context, regions, [&](std::string_view name, const TracedHistory& history) {
        append(table, name, history, context);
    });
    return table;
}

} // namespace mmioscope::view
