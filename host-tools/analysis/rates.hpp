// How often each thing was accessed since the last look.
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
    explicit Rates(Key key) : counts_(key) {}

    void add(const Event& event) { counts_.add(event); }
    Key key() const { return counts_.key(); }

    /// Those with the most since the last look first, then those with the most of all. `seconds`:
    /// how long ago that was; with 0 all rates are 0.
    std::vector<Rate> look(double seconds);

private:
    Counts counts_;
    std::map<std::string, std::uint64_t, std::less<>> before_;
};

} // namespace mmioscope::analysis
