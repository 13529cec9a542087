#include "diff/sites.hpp"

namespace mmioscope::diff {

std::uint32_t Sites::number_of(const Site& site) {
    const auto found = numbers_.find(site);
    if (found != numbers_.end()) {
        return found->second;
    }
    if (size() == most) {
        return none;
    }
    const auto added = numbers_.emplace(site, size()).first;
    sites_.push_back(&added->first);
    return added->second;
}

void Sites::describe(const Site& site, const Register& reg) {
    registers_.try_emplace({site.device, site.offset}, reg);
}

const Register* Sites::description(const Site& site) const {
    const auto found = registers_.find({site.device, site.offset});
    return found == registers_.end() ? nullptr : &found->second;
}

} // namespace mmioscope::diff
