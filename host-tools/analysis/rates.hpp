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

/// Those that are to be seen, and what stands first; of equal ones those with the highest rate,
/// then those with the most accesses, then by name.
struct RateChoice {
    Order order = Order::accesses; ///< accesses: by rate
    std::string front;             ///< of their names, which are told without it
    bool operator==(const RateChoice&) const = default;
};

struct FirstRates {
    std::vector<Rate> rows;
    std::size_t size = 0; ///< with those that have no row
    Rate total;           ///< of all of them
};

/// Memory does not grow with the number of names: most_names of them are held, the others are in
/// temporary files.
class Rates {
public:
    /// `came` is what came since the look before, `seconds` ago; with 0 all rates are 0.
    void look(CountsByName& came, double seconds);
    /// Rates are of all that ever came, in so many seconds.
    void look_at_all(double seconds);

    /// As of the last look, `most` of them in the order of `choice`.
    FirstRates first(const RateChoice& choice, std::size_t most = most_names);

private:
    /// A name's total, and its count in the last update that had any.
    struct Looked {
        Count count;
        std::uint64_t look = 0; ///< its number
        std::uint64_t came = 0; ///< in it

        void add(const Looked& other);
    };
    double per_second(const Looked& looked) const;

    SpilledMap<Looked> names_{most_names};
    std::uint64_t look_ = 0; ///< the number of the last one
    double seconds_ = 0;     ///< that rates are of
    bool of_all_ = false;
};

} // namespace mmioscope::analysis
