// How often each item was accessed since the last update.
#pragma once

#include "analysis/count.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::analysis {

struct Rate {
    std::string name;
    Count count; ///< since the start
    double per_second = 0;
};

class Rates {
public:
    /// Rates of `counts`, which continue those of the previous look. Sorted by accesses since then,
    /// then by all accesses. `seconds`: the time since the previous look; if 0, all rates are 0.
    std::vector<Rate> look(const NamedCounts& counts, double seconds);

private:
    std::map<std::string, std::uint64_t, std::less<>> before_;
};

} // namespace mmioscope::analysis
