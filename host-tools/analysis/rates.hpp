// How often each item was accessed since the last update.
#pragma once

#include "analysis/count.hpp"
#include "analysis/count_table.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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
