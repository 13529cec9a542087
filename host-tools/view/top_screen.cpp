#include "view/top_screen.hpp"

#include "table/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace mmioscope::view {

namespace {

constexpr char keys[] = "d device  r register  f function  a caller  t task  c CPU  i interrupt  "
                        "s size  p pause  q quit";

table::Table table_of(analysis::Key key, std::span<const analysis::Rate> rates) {
    using enum table::Look;
    table::Table table{{{"", "per s", number, 10},
                        {"", "reads", number, 10},
                        {"", "writes", number, 10},
                        {"", analysis::key_text(key)}},
                       {}};
    for (const analysis::Rate& rate : rates) {
        table.rows.push_back({rate.per_second, rate.count.reads, rate.count.writes, rate.name});
    }
    return table;
}

} // namespace

std::optional<analysis::Key> chosen_by(int key) {
    using analysis::Key;
    switch (key) {
    case 'd': return Key::device;
    case 'r': return Key::reg;
    case 'f': return Key::function;
    case 'a': return Key::caller;
    case 't': return Key::task;
    case 'c': return Key::cpu;
    case 'i': return Key::interrupt;
    case 's': return Key::size;
    default: return std::nullopt;
    }
}

std::vector<std::string> top_screen(const TopHead& head, analysis::Key key,
                                    const std::vector<analysis::Rate>& rates, std::size_t rows,
                                    std::size_t columns) {
    std::vector<std::string> lines;
    lines.push_back(fmt::format("mmioscope top {}: {:.3f} s, {} events, {:.0f}/s, {} lost{}{}",
                                head.name, static_cast<double>(head.nanoseconds) / 1e9, head.events,
                                head.per_second, head.lost, head.state.empty() ? "" : ", ",
                                head.state));
    lines.emplace_back(keys);
    for (std::string& line : lines) {
        line.resize(std::min(line.size(), columns));
    }
    std::ranges::move(
        table::lines(table_of(key, std::span(rates).first(std::min(rates.size(), rows))), columns),
        std::back_inserter(lines));
    lines.resize(std::min(lines.size(), rows));
    return lines;
}

} // namespace mmioscope::view
