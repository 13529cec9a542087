#include "diff/timeline.hpp"

namespace mmioscope::diff {

Timeline::Timeline(const Alike& alike) {
    for (const auto& [site, done] : alike.goods().front().done) {
        if (const Done* const other = alike.other().find(site)) {
            a_by_b_[other->first] = done.first;
            b_by_a_[done.first] = other->first;
        }
    }
}

} // namespace mmioscope::diff
