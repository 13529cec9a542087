#include "diff/changes.hpp"

#include "diff/site_changes.hpp"
#include "diff/write_changes.hpp"

namespace mmioscope::diff {

// What a change of a site or a count tells of is no change of order, too.
Changes changes(const Alike& alike) {
    Told told;
    Changes all;
    all.sites = site_changes(alike, told);
    all.counts = count_changes(alike, told);
    all.orders = order_changes(alike, told);
    return all;
}

} // namespace mmioscope::diff
