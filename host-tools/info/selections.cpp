#include "export/columns.hpp"
#include "info/items.hpp"
#include "info/text.hpp"
#include "lib/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::info {

namespace {

using trace::ReportContext;
using trace::Traced;
using trace::TracedHistory;

std::string_view word(Traced traced) {
    return traced == Traced::yes ? "yes" : traced == Traced::no ? "no" : "in part";
}

/// What is told of a history: its first changes, and its last one.
struct Told {
    explicit Told(const TracedHistory& history) {
        const bool all = history.count == history.first.size();
        first = std::span(history.first).first(history.first.size() - (all ? 0 : 1));
        last = all ? nullptr : &history.last;
        left_out = all ? 0 : history.count - first.size() - 1;
    }

    std::span<const TracedHistory::Change> first;
    const TracedHistory::Change* last; ///< null: it is one of these
    std::uint64_t left_out;            ///< changes in between
};

/// Calls `take` with the name and the history of each that changed.
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

std::string change_text(const TracedHistory::Change& change, const ReportContext& context) {
    return fmt::format(", {} from {}", word(change.now), trace::format_time(change.time, context));
}

std::string row(std::string_view name, const TracedHistory& history, const ReportContext& context) {
    const Told told(history);
    std::string text =
        fmt::format("{:<{}}  {}", name, context.names->width(), word(history.at_first));
    for (const TracedHistory::Change& change : told.first) {
        text += change_text(change, context);
    }
    if (told.last != nullptr) {
        text += fmt::format(", ... ({} changes)", history.count) + change_text(*told.last, context);
    }
    return text + "\n";
}

Item change_item(std::string_view name, const TracedHistory::Change& change,
                 const ReportContext& context) {
    const std::uint64_t since = change.time - std::min(change.time, context.start);
    return {
        "selection",
        std::string(name),
        {{"traced", word(change.now)}, {"from_ns", trace::nanoseconds(since, context.frequency)}}};
}

void append(Items& items, std::string_view name, const TracedHistory& history,
            const ReportContext& context) {
    const Told told(history);
    items.push_back({"selection", std::string(name), {{"traced", word(history.at_first)}}});
    for (const TracedHistory::Change& change : told.first) {
        items.push_back(change_item(name, change, context));
    }
    if (told.last != nullptr) {
        items.push_back(change_item(name, *told.last, context));
        items.back().properties.emplace_back("left_out", told.left_out);
    }
}

} // namespace

std::string selections_text(const trace::Selections& selections, const ReportContext& context,
                            std::size_t regions) {
    std::string rows;
    each(selections, context, regions, [&](std::string_view name, const TracedHistory& history) {
        rows += row(name, history, context);
    });
    return rows.empty()
               ? ""
               : fmt::format("{:<{}}  traced\n", "changed", context.names->width()) + rows + "\n";
}

Items selection_items(const trace::Selections& selections, const ReportContext& context,
                      std::size_t regions) {
    Items items;
    each(selections, context, regions, [&](std::string_view name, const TracedHistory& history) {
        append(items, name, history, context);
    });
    return items;
}

} // namespace mmioscope::info
