#include "analysis/count_table.hpp"

#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

namespace mmioscope::analysis {

namespace {

using Row = std::pair<const std::string, Count>; ///< a name and its count

constexpr std::ptrdiff_t max_column = 11; ///< percentiles are inserted before it

// Values have a meaning only within one register.
bool has_values_column(Key key) {
    return key == Key::reg;
}

table::Look look_of(Key key) {
    return key == Key::device || key == Key::reg ? table::Look::device : table::Look::words;
}

std::vector<table::Column> columns_of(Key key, const TableOptions& options) {
    using enum table::Look;
    std::vector<table::Column> columns{{"by"},
                                       {"name", key_text(key), look_of(key), 24},
                                       {"reads", "reads", number, 9},
                                       {"writes", "writes", number, 9},
                                       {"", "%", number, 5, 1},
                                       {"", "per s", number, 10, 1},
                                       {"span_ns"},
                                       {"duration_ns", "access s", seconds, 10},
                                       {"", "time %", number, 6, 1},
                                       {"", options.guest == 0 ? "" : "guest %", number, 7, 1},
                                       {"", "mean us", number, 9, 2},
                                       {"longest_ns", "max us", micros, 9},
                                       {"first_ns"},
                                       {"last_ns"},
                                       {"least"},
                                       {"most"},
                                       {"guest_ns"},
                                       {"", has_values_column(key) ? "values" : ""}};
    if (options.durations != nullptr) {
        columns.insert(columns.begin() + max_column,
                       {{"p50_ns", "p50 us", micros, 9}, {"p99_ns", "p99 us", micros, 9}});
    }
    if (key == Key::interrupt) {
        const auto first = std::ranges::find(columns, "duration_ns", &table::Column::name);
        const auto end = std::ranges::find(columns, "first_ns", &table::Column::name);
        std::for_each(first, end, [](table::Column& column) { column.title = {}; });
    }
    return columns;
}

double share(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all) * 100;
}

/// What all rows of one table need.
struct Whole {
    Key key;
    TableOptions options;
    Count all;
};

std::vector<table::Cell> row_of(const std::string& name, const Count& count,
                                const Histogram* durations, const Whole& whole) {
    using table::Cell;
    using table::Hex;
    const TableOptions& options = whole.options;
    const double n = static_cast<double>(count.accesses());
    const std::uint32_t frequency = whole.key == Key::interrupt ? 0 : options.frequency;
    const auto time = [frequency](std::uint64_t ticks) {
        return frequency == 0 ? Cell() : Cell(trace::nanoseconds(ticks, frequency));
    };
    const auto mean = [&] { return static_cast<double>(count.duration) / n * 1e6 / frequency; };
    const bool values = has_values_column(whole.key) && count.has_values();
    std::vector<Cell> row{
        key_text(whole.key),
        name,
        count.reads,
        count.writes,
        share(count.accesses(), whole.all.accesses()),
        options.span == 0 ? Cell() : Cell(n / (static_cast<double>(options.span) / 1e9)),
        options.span == 0 ? Cell() : Cell(options.span),
        time(count.duration),
        frequency == 0 ? Cell() : Cell(share(count.duration, whole.all.duration)),
        frequency == 0 ? Cell()
                       : Cell(share(trace::nanoseconds(count.duration, frequency), options.guest)),
        frequency == 0 || n == 0 ? Cell() : Cell(mean()),
        time(count.longest),
        count.first,
        count.last,
        values ? Cell(Hex{count.least}) : Cell(),
        values ? Cell(Hex{count.most}) : Cell(),
        options.guest == 0 ? Cell() : Cell(options.guest),
        values ? fmt::format("{:#x}..{:#x}", count.least, count.most) : "?"};
    if (options.durations != nullptr) {
        const auto at = [&](unsigned percent) {
            return durations == nullptr
                       ? Cell()
                       : time(std::min<std::uint64_t>(durations->at(percent), count.longest));
        };
        row.insert(row.begin() + max_column, {at(50), at(99)});
    }
    return row;
}

/// Null: percentiles are not wanted, or there are no durations.
const Histogram* durations_of(std::string_view name, const Whole& whole) {
    if (whole.options.durations == nullptr) {
        return nullptr;
    }
    const NamedDurations& all = whole.options.durations->by(whole.key);
    const auto found = all.find(std::string(name));
    return found == all.end() ? nullptr : &found->second;
}

std::vector<table::Cell> row_of(const Row& row, const Whole& whole) {
    return row_of(row.first, row.second, durations_of(row.first, whole), whole);
}

/// Without values, because those of different registers have no common range.
std::vector<table::Cell> total_of(const Whole& whole) {
    Count all = whole.all;
    all.least = ~std::uint64_t{0};
    all.most = 0;
    Durations* durations = whole.options.durations;
    auto row =
        row_of("total", all, durations == nullptr ? nullptr : &durations->all(whole.key), whole);
    if (has_values_column(whole.key)) {
        row.back() = table::Cell();
    }
    return row;
}

} // namespace

table::Table count_table(Key key, const CountsByName& counts, const TableOptions& options) {
    table::Table table{columns_of(key, options), {}};
    Count all = counts.rest();
    std::vector<const Row*> rows;
    for (const Row& row : counts.held()) {
        all.add(row.second);
        rows.push_back(&row);
    }
    const std::size_t size = rows.size();
    std::ranges::stable_sort(rows, std::greater(), [order = options.order](const Row* row) {
        return weight(row->second, order);
    });
    if (options.limit != 0 && options.limit < size) {
        table.closing = fmt::format("... {} more", size - options.limit);
        rows.resize(options.limit);
    }
    add_left_out(table.left_out, counts.rest().accesses(),
                 fmt::format("accesses of {}s", key_text(key)), counts.most());
    // Makes the rows anew each time, because a row takes more memory than its count.
    table.more = [rows = std::move(rows), total = options.total && size > 1,
                  whole = Whole{key, options, all}](const table::TakeRow& take) {
        for (const Row* row : rows) {
            take(row_of(*row, whole));
        }
        if (total) {
            take(total_of(whole));
        }
    };
    return table;
}

void Durations::add(const Event& event) {
    if (event.record.type != abi::RecordType::access) {
        return;
    }
    for (const Key key : keys_) {
        if (key == Key::interrupt && event.interrupt_id() == no_id) {
            continue;
        }
        set_name(name_, event, key);
        tables_[key][name_].add(event.record.duration);
        all_[key].add(event.record.duration);
    }
}

void Rates::Looked::look(const Count& now) {
    came = now.accesses() - count.accesses();
    count = now;
}

void Rates::look(Key key, const CountsByName& counts, double seconds) {
    seconds_ = seconds;
    of_all_ = false;
    for (const auto& [name, count] : counts.held()) {
        names_[name].look(count);
    }
    rest_.look(counts.rest());
    left_out_.clear();
    add_left_out(left_out_, rest_.count.accesses(), fmt::format("accesses of {}s", key_text(key)),
                 counts.most());
}

void Rates::look_at_all(double seconds) {
    seconds_ = seconds;
    of_all_ = true;
}

Rate Rates::rate_of(std::string_view name, const Looked& looked) const {
    const std::uint64_t came = of_all_ ? looked.count.accesses() : looked.came;
    return {std::string(name), looked.count,
            seconds_ > 0 ? static_cast<double>(came) / seconds_ : 0};
}

ShownRates Rates::shown(const RateChoice& choice) const {
    ShownRates shown{{}, rate_of("total", choice.front.empty() ? rest_ : Looked()), left_out_};
    for (const auto& [name, looked] : names_) {
        if (name.starts_with(choice.front)) {
            const Rate& rate =
                shown.rows.emplace_back(rate_of(name.substr(choice.front.size()), looked));
            shown.total.count.add(rate.count);
            shown.total.per_second += rate.per_second;
        }
    }
    const Order order = choice.order == Order::accesses ? Order::name : choice.order;
    const bool by_name = choice.order == Order::name;
    std::ranges::stable_sort(shown.rows, std::greater(), [order, by_name](const Rate& rate) {
        return std::tuple(weight(rate.count, order), by_name ? 0 : rate.per_second,
                          by_name ? 0 : rate.count.accesses());
    });
    return shown;
}

} // namespace mmioscope::analysis
