#include "view/top_screen.hpp"

#include "table/text.hpp"
#include "view/short_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mmioscope::view {

namespace {

using analysis::Rate;

constexpr char keys[] =
    "d device  r register  f function  a caller  t task  c CPU  i interrupt  "
    "s size  o order  p pause  q quit  Enter opens a device  Backspace leaves it";

table::Table table_of(const TopLook& look, std::span<const Rate> rates, const Rate& total) {
    using enum table::Look;
    const std::string_view title = analysis::key_text(look.table());
    // The times are those of accesses to a GIC, not of interrupts.
    const bool timed = look.table() != analysis::Key::interrupt;
    const bool devices =
        look.table() == analysis::Key::device || look.table() == analysis::Key::reg;
    table::Table table{{{"", "per s", number, 10},
                        {"", "reads", number, 10},
                        {"", "writes", number, 10},
                        {"", timed ? "time %" : "", number, 6, 1},
                        {"", title, devices ? device : words}},
                       {}};
    const auto add = [&](const Rate& rate) {
        const double share = total.count.duration == 0
                                 ? 0
                                 : static_cast<double>(rate.count.duration) /
                                       static_cast<double>(total.count.duration) * 100;
        table.rows.push_back(
            {rate.per_second, rate.count.reads, rate.count.writes, share, rate.name});
    };
    std::ranges::for_each(rates, add);
    add(total);
    return table;
}

} // namespace

std::vector<std::string> top_screen(const TopHead& head, const TopLook& look,
                                    const analysis::ShownRates& shown, std::size_t rows,
                                    std::size_t columns) {
    std::vector<std::string> lines;
    lines.push_back(fmt::format("mmioscope top {}: {:.3f} s, {} events, {:.0f}/s, {} lost{}{}{}{}",
                                head.name, static_cast<double>(head.nanoseconds) / 1e9, head.events,
                                head.per_second, head.lost, head.state.empty() ? "" : ", ",
                                head.state, look.device.empty() ? "" : ", registers of ",
                                look.device));
    lines.back() += look.order == analysis::Order::accesses
                        ? ""
                        : fmt::format(", by {}", order_text(look.order));
    lines.emplace_back(shown.left_out.empty() ? keys : shown.left_out.front() + "  " + keys);
    for (std::string& line : lines) {
        line.resize(std::min(line.size(), columns));
    }
    const std::size_t first = std::min(look.first, shown.rows.size());
    const auto visible = std::span(shown.rows)
                             .subspan(first)
                             .first(std::min(shown.rows.size() - first, top_page(rows)));
    const table::Table table = shortened(table_of(look, visible, shown.total), head.short_names);
    std::ranges::move(table::lines(table, columns), std::back_inserter(lines));
    lines.resize(std::min(lines.size(), rows));
    return lines;
}

} // namespace mmioscope::view
