#include "diff/findings.hpp"

#include "diff/burst_findings.hpp"
#include "diff/site_findings.hpp"
#include "diff/write_findings.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace mmioscope::diff {

namespace {

/// The first event that shows it, in either boot.
std::uint64_t first_event(const Finding& finding) {
    return finding.a.event == 0 ? finding.b.event : finding.a.event;
}

} // namespace

std::vector<Finding> findings(const Alike& alike, const Changes& changes, const Sites& sites) {
    std::vector<Finding> all = site_findings(alike, changes, sites);
    for (const auto& more :
         {write_findings(alike, changes, sites), burst_findings(alike, changes, sites)}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
        return std::pair(a.tier, first_event(a)) < std::pair(b.tier, first_event(b));
    });
    return all;
}

} // namespace mmioscope::diff
