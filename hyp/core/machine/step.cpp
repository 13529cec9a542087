#include "machine/step.hpp"

#include "trace/region_map.hpp"

namespace mmioscope {

RegionSet regions_of(const Step& step, const DeviceAccess& access) {
    RegionSet regions;
    regions.add(access.span->region);
    regions.add(access.last_region);
    if (!access.listed) return regions;
    for (unsigned n = 0; n < access.beats; ++n)
        if (step.beats[n].span != nullptr) regions.add(step.beats[n].span->region);
    return regions;
}

bool reaches_traced(const RegionMap& map, const Step& step, const DeviceAccess& access) {
    if (!access.listed)
        return access.span->traced() || (!access.behind.empty() && map.any_traced(access.behind));
    for (unsigned n = 0; n < access.beats; ++n)
        if (step.beats[n].span != nullptr && step.beats[n].span->traced()) return true;
    return false;
}

} // namespace mmioscope
