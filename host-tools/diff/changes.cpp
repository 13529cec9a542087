#include "diff/changes.hpp"

#include "diff/burst_changes.hpp"
#include "diff/site_changes.hpp"
#include "diff/write_changes.hpp"

namespace mmioscope::diff {

// Writes in a site or count change are not also reported as a change of order.
Changes changes(const Alike& alike) {
    Told told;
    Changes all;
    all.sites = site_changes(alike, told);
    all.bursts = burst_changes(alike, told);
    all.counts = count_changes(alike, told);
    all.orders = order_changes(alike, told);
    return all;
}

} // namespace mmioscope::diff
