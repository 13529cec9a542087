// Durations of accesses, grouped as in analysis/count.hpp. Looks up the names of each access, which
// takes longer than counting.
#pragma once

#include "analysis/count.hpp"
#include "analysis/histogram.hpp"

#include <map>
#include <string>
#include <vector>

namespace mmioscope::analysis {

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

} // namespace mmioscope::analysis
