#include "analysis/count_table.hpp"
#include "lib/ticks.hpp"

#include "export/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::analysis {

namespace {

using Row = std::pair<const std::string, Count>;

std::uint64_t weight(const Count& count, Order order) {
    switch (order) {
    case Order::reads: return count.reads;
    case Order::writes: return count.writes;
    case Order::time: return count.duration;
    case Order::latency: return count.longest;
    default: return count.accesses();
    }
}

std::vector<const Row*> sorted(const Counts& counts, Order order) {
    std::vector<const Row*> rows;
    for (const Row& row : counts.all()) {
        rows.push_back(&row);
    }
    if (order != Order::name) {
        std::stable_sort(rows.begin(), rows.end(), [order](const Row* a, const Row* b) {
            return weight(a->second, order) > weight(b->second, order);
        });
    }
    return rows;
}

std::string micros(double ticks, std::uint32_t frequency) {
    return frequency == 0 ? "-" : fmt::format("{:.2f}", ticks * 1e6 / frequency);
}

// A value says something of one register only.
bool tells_values(Key key) {
    return key == Key::reg;
}

std::string row_text(const Row& row, std::size_t width, const Counts& counts,
                     const TableOptions& options) {
    const Count& count = row.second;
    const double n = static_cast<double>(count.accesses());
    const double seconds = static_cast<double>(options.span) / 1e9;
    std::string text =
        fmt::format("{:<{}} {:>9} {:>9} {:>10} {:>9} {:>9}", row.first, width, count.reads,
                    count.writes, options.span == 0 ? "-" : fmt::format("{:.1f}", n / seconds),
                    micros(static_cast<double>(count.duration) / n, options.frequency),
                    micros(count.longest, options.frequency));
    if (tells_values(counts.key())) {
        text += count.has_values() ? fmt::format("  {:#x}..{:#x}", count.least, count.most) : "  ?";
    }
    return text + "\n";
}

std::size_t shown_of(const std::vector<const Row*>& rows, const TableOptions& options) {
    return options.limit == 0 ? rows.size() : std::min(options.limit, rows.size());
}

} // namespace

exporting::Table count_table() {
    return {{"by", "name", "reads", "writes", "span_ns", "duration_ns", "longest_ns", "first_ns",
             "last_ns", "least", "most"},
            {}};
}

void append(exporting::Table& to, const Counts& counts, const TableOptions& options) {
    using exporting::Cell;
    const std::vector<const Row*> rows = sorted(counts, options.order);
    const std::size_t shown = shown_of(rows, options);
    const auto time = [&options](std::uint64_t ticks) {
        return options.frequency == 0 ? Cell() : Cell(trace::nanoseconds(ticks, options.frequency));
    };
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& [name, count] = *rows[i];
        const bool values = tells_values(counts.key()) && count.has_values();
        to.rows.push_back({key_text(counts.key()), name, count.reads, count.writes,
                           options.span == 0 ? Cell() : Cell(options.span), time(count.duration),
                           time(count.longest), count.first, count.last,
                           values ? Cell(exporting::Hex{count.least}) : Cell(),
                           values ? Cell(exporting::Hex{count.most}) : Cell()});
    }
}

std::string table(const Counts& counts, const TableOptions& options) {
    const std::vector<const Row*> rows = sorted(counts, options.order);
    const std::size_t shown = shown_of(rows, options);
    std::size_t width = 24;
    for (std::size_t i = 0; i < shown; ++i) {
        width = std::max(width, rows[i]->first.size());
    }
    std::string text = fmt::format(
        "{:<{}} {:>9} {:>9} {:>10} {:>9} {:>9}{}\n", key_text(counts.key()), width, "reads",
        "writes", "per s", "mean us", "max us", tells_values(counts.key()) ? "  values" : "");
    for (std::size_t i = 0; i < shown; ++i) {
        text += row_text(*rows[i], width, counts, options);
    }
    if (shown < rows.size()) {
        text += fmt::format("... {} more\n", rows.size() - shown);
    }
    return text;
}

} // namespace mmioscope::analysis
