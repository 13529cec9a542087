#include "info/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::info {

namespace {

using trace::Traced;
using trace::TracedHistory;

std::string_view word(Traced traced) {
    return traced == Traced::yes ? "yes" : traced == Traced::no ? "no" : "in part";
}

std::string change_text(const TracedHistory::Change& change, const trace::ReportContext& context) {
    return fmt::format(", {} from {}", word(change.now), trace::format_time(change.time, context));
}

std::string row(std::string_view name, std::size_t width, const TracedHistory& history,
                const trace::ReportContext& context) {
    std::string text = fmt::format("{:<{}}  {}", name, width, word(history.at_first));
    const bool all = history.count == history.first.size();
    const std::size_t shown = history.first.size() - (all ? 0 : 1); // and the last one
    for (std::size_t i = 0; i < shown; ++i) {
        text += change_text(history.first[i], context);
    }
    if (!all) {
        text +=
            fmt::format(", ... ({} changes)", history.count) + change_text(history.last, context);
    }
    return text + "\n";
}

} // namespace

std::string selections_text(const trace::Selections& selections,
                            const trace::ReportContext& context, std::size_t regions) {
    std::string rows;
    const std::size_t width = context.names->width();
    for (std::size_t i = 0; i < regions; ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        if (const TracedHistory* const history = selections.of(index)) {
            rows += row((*context.names)[index], width, *history, context);
        }
    }
    if (selections.of_all() != nullptr) {
        rows += row("all", width, *selections.of_all(), context);
    }
    return rows.empty() ? "" : fmt::format("{:<{}}  traced\n", "changed", width) + rows + "\n";
}

} // namespace mmioscope::info
