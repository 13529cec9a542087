// Counts as a table.
#pragma once

#include "analysis/count.hpp"
#include "table/table.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::analysis {

// The order of a table of counts.

enum class Order { accesses, reads, writes, time, latency, name };

/// Rows with a larger weight come first; always 0 for the order of names.
inline std::uint64_t weight(const Count& count, Order order) {
    switch (order) {
    case Order::accesses: return count.accesses();
    case Order::reads: return count.reads;
    case Order::writes: return count.writes;
    case Order::time: return count.duration;
    case Order::latency: return count.longest;
    case Order::name: return 0;
    }
    return 0;
}

// A histogram in bounded memory, with a precision of 1/32 of each number.

class Histogram {
public:
    void add(std::uint32_t number) {
        const std::size_t at = place_of(number);
        if (at >= counts_.size()) {
            counts_.resize(at + 1);
        }
        ++counts_[at];
        ++all_;
    }

    std::uint64_t size() const { return all_; }

    /// The least number that at least `percent` of all do not exceed, or up to 1/32 more. 0 if
    /// there are no numbers.
    std::uint64_t at(unsigned percent) const {
        const std::uint64_t wanted = (all_ * percent + 99) / 100;
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen >= wanted && seen > 0) {
                return last_of(i);
            }
        }
        return 0;
    }

private:
    // Numbers below 64 have a place each; those of n bits share 32.
    static std::size_t place_of(std::uint32_t number) {
        const int more = std::bit_width(number) - 6;
        return more <= 0 ? number : static_cast<std::size_t>(more) * 32 + (number >> more);
    }
    static std::uint64_t last_of(std::size_t place) {
        if (place < 64) {
            return place;
        }
        const std::size_t more = place / 32 - 1;
        return ((std::uint64_t{place - more * 32} + 1) << more) - 1;
    }

    std::vector<std::uint64_t> counts_;
    std::uint64_t all_ = 0;
};

// Durations of accesses, grouped as in analysis/count.hpp. Looks up the names of each access, which
// takes longer than counting.

using NamedDurations = std::map<std::string, Histogram, std::less<>>; ///< ticks

class Durations {
public:
    explicit Durations(std::vector<Key> keys) : keys_(std::move(keys)) {}

    void add(const Event& event);
    const NamedDurations& by(Key key) { return tables_[key]; }
    /// All accesses that `key` counts.
    const Histogram& all(Key key) { return all_[key]; }

private:
    std::vector<Key> keys_;
    std::map<Key, NamedDurations> tables_;
    std::map<Key, Histogram> all_;
    std::string name_; ///< kept to avoid an allocation for each event
};

struct TableOptions {
    Order order = Order::accesses;  ///< largest first; names in ascending order
    std::size_t limit = 20;         ///< rows; 0: all
    std::uint64_t span = 0;         ///< ns, for rates; 0: shows none
    std::uint64_t guest = 0;        ///< ns that the guest ran, for shares of it; 0: shows none
    std::uint32_t frequency = 0;    ///< of durations, Hz; 0: shows none
    bool total = false;             ///< adds a last row with the sums
    Durations* durations = nullptr; ///< of the same accesses; not null: adds percentiles
};

/// The counts by `key`, a row each; for people, a line tells how many rows exceed the limit. A
/// duration is that of the access alone (abi/record.hpp): from just before it, with its device
/// locked, until it is known to be done; this includes the engine's detour. No record has the rest
/// of the trap's time. Interrupts have no times: those of accesses to a GIC are not theirs. The
/// table refers to `counts`, which must not change while it is in use.
table::Table count_table(Key key, const CountsByName& counts, const TableOptions& options);

// How often each item was accessed since the last update.

struct Rate {
    std::string name;
    Count count; ///< since the start
    double per_second = 0;
};

/// Which names are shown, in which order. Equal ones are ordered by rate, then by accesses, then by
/// name.
struct RateChoice {
    Order order = Order::accesses; ///< accesses: by rate
    std::string front;             ///< shows only names that begin with it, without it
    bool operator==(const RateChoice&) const = default;
};

struct ShownRates {
    std::vector<Rate> rows;
    Rate total;                        ///< of all names
    std::vector<std::string> left_out; ///< add_left_out()
};

class Rates {
public:
    /// `counts` are those of `key` since the start; the previous call was `seconds` ago. With 0
    /// seconds, all rates are 0. Keeps references to the names.
    void look(Key key, const CountsByName& counts, double seconds);
    /// From now on rates are over the whole trace, which took `seconds`.
    void look_at_all(double seconds);

    /// As of the last look(), in the order of `choice`.
    ShownRates shown(const RateChoice& choice) const;

private:
    struct Looked {
        Count count;
        std::uint64_t came = 0; ///< accesses since the look before

        void look(const Count& now);
    };
    Rate rate_of(std::string_view name, const Looked& looked) const;

    std::map<std::string_view, Looked> names_;
    Looked rest_;        ///< of the names left out
    double seconds_ = 0; ///< the time that rates are over
    bool of_all_ = false;
    std::vector<std::string> left_out_;
};

} // namespace mmioscope::analysis
