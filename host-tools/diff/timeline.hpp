// Where events of the other boot would be in the first good one.
#pragma once

#include "diff/alike.hpp"
#include "diff/finding.hpp"

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace mmioscope::diff {

class Timeline {
public:
    explicit Timeline(const Alike& alike);

    /// An event of the first good boot, or how far the other boot is behind it.
    using Place = std::pair<std::uint64_t, std::uint64_t>;

    /// The first event that shows it.
    Place place_of(const Finding& finding) const {
        return finding.a.event != 0 ? Place(finding.a.event, 0)
                                    : Place(last(a_by_b_, finding.b.event), finding.b.event);
    }
    /// The event of the other boot that is as far as `event` of the first good boot: the first use
    /// of the last site that both used by then.
    std::uint64_t in_b(std::uint64_t event) const { return last(b_by_a_, event); }

private:
    using Events = std::map<std::uint64_t, std::uint64_t>;

    static std::uint64_t last(const Events& events, std::uint64_t event) {
        const auto next = events.upper_bound(event);
        return next == events.begin() ? 0 : std::prev(next)->second;
    }

    Events a_by_b_, b_by_a_; ///< first uses of sites that both have
};

} // namespace mmioscope::diff
