// How often each item was accessed since the last update.
#pragma once

#include "analysis/count.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::analysis {

struct Rate {
    std::string name;
    Count count; ///< of all
    double per_second = 0;
};

class Rates {
public:
    /// Of `counts`, which are those of the look before and what came since: those with the most
    /// since then first, then those with the most of all. `seconds`: how long ago that was; with 0
    /// all rates are 0.
    std::vector<Rate> look(const NamedCounts& counts, double seconds);

private:
    std::map<std::string, std::uint64_t, std::less<>> before_;
};

} // namespace mmioscope::analysis
