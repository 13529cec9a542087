#include "tree/short_names.hpp"

#include "system/escape.hpp"
#include "tree/device_names.hpp"
#include "tree/device_tree.hpp"
#include "tree/tree_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace mmioscope::tree {

namespace {

// Generic names of the Devicetree Specification, and shorter common names for them.
constexpr std::pair<std::string_view, std::string_view> abbreviations[] = {
    {"interrupt-controller", "intc"}, {"ethernet", "eth"},          {"memory-controller", "memc"},
    {"compact-flash", "cf"},          {"system-control", "sysctl"},
};

constexpr std::string_view gic_parts[] = {"dist", "cpu", "hyp", "vcpu"};

bool is_gic(const std::vector<std::string>& compatible) {
    return std::ranges::any_of(compatible, [](const std::string& one) {
        return one.ends_with("gic") || one.ends_with("gic-400") || one.ends_with("pl390");
    });
}

class Namer {
public:
    Namer(std::span<const abi::RegionEntry> regions, std::span<const std::byte> tree)
        : regions_(regions), nodes_(tree), aliases_(aliases(tree)), whole_(regions, tree) {
        for (const abi::RegionEntry& region : regions) {
            called_[base(region)].insert(region_path(region));
        }
    }

    std::vector<std::string> names() const {
        std::vector<std::string> all;
        std::map<std::string, unsigned> count;
        for (const abi::RegionEntry& region : regions_) {
            all.push_back(printable(of_node(region) + part(region)));
            ++count[all.back()];
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (count[all[i]] > 1) {
                all[i] = whole_[static_cast<std::uint16_t>(i)];
            }
        }
        return all;
    }

private:
    std::string base(const abi::RegionEntry& region) const {
        const std::string_view path = region_path(region);
        if (const auto own = aliases_of(path, aliases_); !own.empty()) {
            return own.back();
        }
        std::string_view name = path.substr(path.rfind('/') + 1);
        name = name.substr(0, name.find('@'));
        if (name == abbreviations[0].first && is_gic(strings(region, "compatible"))) {
            return "gic";
        }
        for (const auto& [generic, brief] : abbreviations) {
            name = name == generic ? brief : name;
        }
        return std::string(name.empty() ? "-" : name);
    }

    std::string of_node(const abi::RegionEntry& region) const {
        std::string name = base(region);
        const std::string_view path = region_path(region);
        const std::size_t at = path.rfind('@');
        return called_.at(name).size() > 1 && at != std::string_view::npos
                   ? name.append(path.substr(at))
                   : name;
    }

    std::string part(const abi::RegionEntry& region) const {
        const std::size_t index = region.reg_index;
        if (is_gic(strings(region, "compatible")) && index < std::size(gic_parts)) {
            return fmt::format(".{}", gic_parts[index]);
        }
        const std::vector<std::string> names = strings(region, "reg-names");
        if (names.size() > 1 && index < names.size()) {
            return '.' + names[index];
        }
        return index > 0 ? fmt::format("[{}]", index) : "";
    }

    std::vector<std::string> strings(const abi::RegionEntry& region, const char* property) const {
        const std::size_t node = nodes_.find(region_path(region));
        return node == TreeNodes::none ? std::vector<std::string>()
                                       : nodes_.strings(node, property);
    }

    std::span<const abi::RegionEntry> regions_;
    TreeNodes nodes_;
    Aliases aliases_;
    DeviceNames whole_;
    std::map<std::string, std::set<std::string_view>> called_; ///< paths, by base()
};

} // namespace

std::vector<std::string> short_names(std::span<const abi::RegionEntry> regions,
                                     std::span<const std::byte> tree) {
    return Namer(regions, tree).names();
}

ShortNames short_names(const DeviceNames& whole, std::span<const abi::RegionEntry> regions,
                       std::span<const std::byte> tree) {
    const std::vector<std::string> names = short_names(regions, tree);
    ShortNames by_name;
    for (std::size_t i = 0; i < names.size(); ++i) {
        by_name.emplace(whole[static_cast<std::uint16_t>(i)], names[i]);
    }
    return by_name;
}

} // namespace mmioscope::tree
