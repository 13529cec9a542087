// How long accesses took, counted by what they have in common as analysis/count.hpp counts them.
// Names are looked up for each access: that takes longer than counting.
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
    /// Of all accesses that `key` counts.
    const Histogram& all(Key key) { return all_[key]; }

private:
    std::vector<Key> keys_;
    std::map<Key, NamedDurations> tables_;
    std::map<Key, Histogram> all_;
    std::string name_; ///< kept, so that an event costs no memory
};

} // namespace mmioscope::analysis
