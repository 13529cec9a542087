#include "analysis/count_table.hpp"
#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <queue>
#include <string>

namespace mmioscope::analysis {

namespace {

using Row = NamedCounts::value_type; ///< a name and its count

std::uint64_t weight(const Count& count, Order order) {
    switch (order) {
    case Order::reads: return count.reads;
    case Order::writes: return count.writes;
    case Order::time: return count.duration;
    case Order::latency: return count.longest;
    default: return count.accesses();
    }
}

std::vector<const Row*> sorted(const NamedCounts& counts, Order order) {
    std::vector<const Row*> rows;
    for (const Row& row : counts) {
        rows.push_back(&row);
    }
    if (order != Order::name) {
        std::stable_sort(rows.begin(), rows.end(), [order](const Row* a, const Row* b) {
            return weight(a->second, order) > weight(b->second, order);
        });
    }
    return rows;
}

/// Counts of which not all are in memory, in the order of a table: the first `most` of them.
class InOrder {
public:
    InOrder(CountsByName& counts, Order order, std::size_t most)
        : counts_(counts), by_name_(order == Order::name), most_(most), by_weight_(most_names) {
        std::priority_queue<std::string> first; // of a few, what is behind all others on top
        counts.each([&](std::string_view name, const Count& count) {
            ++size_;
            if (by_name_) {
                return true;
            }
            std::string key = key_of(~weight(count, order)).append(name);
            if (most_ <= most_names) {
                if (first.size() == most_) {
                    if (key > first.top()) {
                        return true;
                    }
                    first.pop();
                }
                first.push(key);
            }
            by_weight_.of(key) = count;
            return true;
        });
        by_weight_.settle();
    }

    /// Of all that were counted.
    std::size_t size() const { return size_; }

    template <typename Take>
    void each(const Take& take) {
        std::size_t left = most_;
        const std::size_t behind = by_name_ ? 0 : sizeof(std::uint64_t);
        (by_name_ ? counts_ : by_weight_).each([&](std::string_view name, const Count& count) {
            if (left > 0) {
                take(Row(name.substr(behind), count));
                --left;
            }
            return left > 0;
        });
    }

private:
    CountsByName& counts_;
    bool by_name_;
    std::size_t most_;
    CountsByName by_weight_; ///< by what is more first, and the name
    std::size_t size_ = 0;
};

// A value says something of one register only.
bool tells_values(Key key) {
    return key == Key::reg;
}

std::vector<table::Column> columns_of(Key key) {
    using enum table::Look;
    return {{"by"},
            {"name", key_text(key), words, 24},
            {"reads", "reads", number, 9},
            {"writes", "writes", number, 9},
            {"", "per s", number, 10, 1},
            {"span_ns"},
            {"duration_ns"},
            {"", "mean us", number, 9, 2},
            {"longest_ns", "max us", micros, 9},
            {"first_ns"},
            {"last_ns"},
            {"least"},
            {"most"},
            {"", tells_values(key) ? "values" : ""}};
}

std::vector<table::Cell> row_of(const Row& row, Key key, const TableOptions& options) {
    using table::Cell;
    using table::Hex;
    const auto& [name, count] = row;
    const double n = static_cast<double>(count.accesses());
    const std::uint32_t frequency = options.frequency;
    const auto time = [frequency](std::uint64_t ticks) {
        return frequency == 0 ? Cell() : Cell(trace::nanoseconds(ticks, frequency));
    };
    const auto mean = [&, &count = count] {
        return static_cast<double>(count.duration) / n * 1e6 / frequency;
    };
    const bool values = tells_values(key) && count.has_values();
    return {key_text(key),
            name,
            count.reads,
            count.writes,
            options.span == 0 ? Cell() : Cell(n / (static_cast<double>(options.span) / 1e9)),
            options.span == 0 ? Cell() : Cell(options.span),
            time(count.duration),
            frequency == 0 ? Cell() : Cell(mean()),
            time(count.longest),
            count.first,
            count.last,
            values ? Cell(Hex{count.least}) : Cell(),
            values ? Cell(Hex{count.most}) : Cell(),
            values ? fmt::format("{:#x}..{:#x}", count.least, count.most) : "?"};
}

} // namespace

table::Table count_table(Key key, CountsByName& counts, const TableOptions& options) {
    table::Table table{columns_of(key), {}};
    const std::size_t most =
        options.limit == 0 ? std::numeric_limits<std::size_t>::max() : options.limit;
    std::size_t all = 0;
    if (counts.holds_all()) {
        const std::vector<const Row*> rows = sorted(counts.held(), options.order);
        all = rows.size();
        for (std::size_t i = 0; i < std::min(most, all); ++i) {
            table.rows.push_back(row_of(*rows[i], key, options));
        }
    } else {
        const auto order = std::make_shared<InOrder>(counts, options.order, most);
        all = order->size();
        table.more = [order, key, options](const table::TakeRow& take) {
            order->each([&](const Row& row) { take(row_of(row, key, options)); });
        };
    }
    if (most < all) {
        table.closing = fmt::format("... {} more", all - most);
    }
    return table;
}

} // namespace mmioscope::analysis
