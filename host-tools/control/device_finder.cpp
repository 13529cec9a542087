#include "control/device_finder.hpp"

#include "system/error.hpp"
#include "tree/device_names.hpp"

#include <set>

namespace mmioscope::control {

namespace {

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

} // namespace

std::vector<Place> find_device(const wire::StreamHead& head, const std::string& name) {
    std::set<std::string_view> paths, known;
    for (const abi::RegionEntry& region : head.regions) {
        paths.insert(tree::region_path(region));
        known.insert(last_part(tree::region_path(region)));
    }
    const auto called = tree::paths_called(name, head.aliases, paths);
    if (called.size() > 1) {
        throw bad_input("{} is several devices: {}", name, fmt::join(called, ", "));
    }
    if (called.empty()) {
        throw bad_input("no device is called {}; there are: {}", name, fmt::join(known, ", "));
    }
    std::vector<Place> places;
    for (const abi::RegionEntry& region : head.regions) {
        if (tree::region_path(region) == called.front()) {
            places.push_back({region.base, region.size});
        }
    }
    return places;
}

} // namespace mmioscope::control
