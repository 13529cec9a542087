// What a driver no longer does once it has stopped: one finding, behind the cause.
#pragma once

#include "diff/alike.hpp"
#include "diff/finding.hpp"
#include "diff/site_findings.hpp"
#include "diff/timeline.hpp"

#include <vector>

namespace mmioscope::diff {

/// Replaces the findings that follow from a stop by one. A driver has stopped where the other boot
/// lacks most of what all good boots first do from there on to its device. Then these follow,
/// except for the first finding about the device, which may be the cause:
/// - what is missing from there on, and what only the other boot does to the device behind it;
/// - likewise on other devices, if the thread came from the stopped one;
/// - what is missing behind the end of the other boot.
std::vector<Finding> with_stops(const Alike& alike, const Timeline& timeline,
                                const std::vector<SiteFinding>& all);

} // namespace mmioscope::diff
