#include "control/device_finder.hpp"

#include "system/error.hpp"
#include "tree/device_names.hpp"

namespace mmioscope::control {

std::set<std::string> device_names(const wire::StreamHead& head) {
    const tree::DeviceNames names(head.regions, wire::alias_tree(head));
    std::set<std::string> all;
    for (std::size_t i = 0; i < head.regions.size(); ++i) {
        const std::string_view name = names[static_cast<std::uint16_t>(i)];
        all.emplace(name.substr(0, name.find('['))); // entries of `reg` have no names of their own
    }
    return all;
}

std::vector<Place> find_device(const wire::StreamHead& head, const std::string& name) {
    std::set<std::string_view> paths;
    for (const abi::RegionEntry& region : head.regions) {
        paths.insert(tree::region_path(region));
    }
    const auto called = tree::paths_called(name, head.aliases, paths);
    if (called.size() > 1) {
        throw bad_input("'{}' is the name of several devices: {}", name, fmt::join(called, ", "));
    }
    if (called.empty()) {
        throw bad_input("there is no device '{}'; devices: {}", name,
                        fmt::join(device_names(head), ", "));
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
