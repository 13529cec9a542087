// How often each item was accessed since the last update.
#pragma once

#include "analysis/count.hpp"
#include "analysis/order.hpp"
#include "system/spilled_map.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::analysis {

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

struct FirstRates {
    std::vector<Rate> rows;
    std::size_t size = 0; ///< also of those without a row
    Rate total;           ///< of all names
};

/// Keeps at most most_names names in memory, the others in temporary files.
class Rates {
public:
    /// Adds `came`, the counts since the previous call, `seconds` ago. With 0 seconds, all rates
    /// are 0.
    void look(CountsByName& came, double seconds);
    /// From now on rates are over the whole trace, which took `seconds`.
    void look_at_all(double seconds);

    /// As of the last look(), at most `most` rows, in the order of `choice`.
    FirstRates first(const RateChoice& choice, std::size_t most = most_names);

private:
    /// A name's total, and its count in the latest look() in which it occurred.
    struct Looked {
        Count count;
        std::uint64_t look = 0; ///< the number of that look()
        std::uint64_t came = 0; ///< accesses in it

        void add(const Looked& other);
    };
    double per_second(const Looked& looked) const;

    SpilledMap<Looked> names_{most_names};
    std::uint64_t look_ = 0; ///< number of the latest look()
    double seconds_ = 0;     ///< the time that rates are over
    bool of_all_ = false;
};

} // namespace mmioscope::analysis
