#include "diff/findings.hpp"

#include "diff/burst_findings.hpp"
#include "diff/site_findings.hpp"
#include "diff/stops.hpp"
#include "diff/timeline.hpp"
#include "diff/write_findings.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope::diff {

namespace {

std::vector<Finding> each(const std::vector<SiteFinding>& all) {
    std::vector<Finding> findings;
    for (const SiteFinding& one : all) {
        findings.push_back(one.finding);
    }
    return findings;
}

} // namespace

std::vector<Finding> findings(const Alike& alike, const Changes& changes, const Sites& sites,
                              Stops stops) {
    const std::vector<SiteFinding> of_sites = site_findings(alike, changes, sites);
    const Timeline timeline(alike);
    std::vector<Finding> all =
        stops == Stops::apart ? each(of_sites) : with_stops(alike, timeline, of_sites);
    for (const auto& more :
         {write_findings(alike, changes, sites), burst_findings(alike, changes, sites)}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    std::stable_sort(all.begin(), all.end(), [&](const Finding& one, const Finding& other) {
        return std::pair(one.tier, timeline.place_of(one)) <
               std::pair(other.tier, timeline.place_of(other));
    });
    return all;
}

} // namespace mmioscope::diff
