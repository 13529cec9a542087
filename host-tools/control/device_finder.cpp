#include "control/device_finder.hpp"

#include "system/error.hpp"
#include "tree/device_names.hpp"

#include <set>

namespace mmioscope::control {

namespace {

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

std::string join(const std::set<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

/// The path that `name` stands for.
std::string path_of(const wire::StreamHead& head, const std::string& name) {
    if (const auto alias = head.aliases.find(name); alias != head.aliases.end()) {
        return alias->second;
    }
    std::set<std::string> same;
    std::set<std::string> known;
    for (const abi::RegionEntry& region : head.regions) {
        const std::string_view path = tree::region_path(region);
        known.emplace(last_part(path));
        if (path == name) {
            return name;
        }
        if (last_part(path) == name) {
            same.emplace(path);
        }
    }
    if (same.size() > 1) {
        throw bad_input("{} is several devices: {}", name, join(same));
    }
    if (same.empty()) {
        throw bad_input("no device is called {}; there are: {}", name, join(known));
    }
    return *same.begin();
}

} // namespace

std::vector<Place> find_device(const wire::StreamHead& head, const std::string& name) {
    const std::string path = path_of(head, name);
    std::vector<Place> places;
    for (const abi::RegionEntry& region : head.regions) {
        if (tree::region_path(region) == path) {
            places.push_back({region.base, region.size});
        }
    }
    if (places.empty()) {
        throw bad_input("{} ({}) has no registers", name, path);
    }
    return places;
}

} // namespace mmioscope::control
