#include "tree/device_names.hpp"

#include "system/escape.hpp"
#include "tree/tree_nodes.hpp"

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>
#include <utility>

namespace mmioscope::tree {

namespace {

using Paths = std::set<std::string_view>;

// The last `depth` components of `path`; all of it if there are no more.
std::string_view path_end(std::string_view path, unsigned depth) {
    std::size_t slash = path.size();
    while (depth-- > 0 && slash != 0 && slash != std::string_view::npos) {
        slash = path.rfind('/', slash - 1);
    }
    return slash == std::string_view::npos || path.empty() ? path : path.substr(slash + 1);
}

/// The shortest unique end of each path; the whole path if there is none.
std::map<std::string_view, std::string_view> unique_ends(const Paths& paths) {
    std::map<std::string_view, std::string_view> unique;
    for (unsigned depth = 1; unique.size() < paths.size(); ++depth) {
        std::unordered_map<std::string_view, unsigned> count;
        for (const std::string_view path : paths) {
            ++count[path_end(path, depth)];
        }
        for (const std::string_view path : paths) {
            const std::string_view end = path_end(path, depth);
            if (count[end] == 1 || end.size() + 1 >= path.size()) {
                unique.try_emplace(path, end); // keeps the first, which is the shortest
            }
        }
    }
    return unique;
}

} // namespace

bool same_regions(std::span<const abi::RegionEntry> left, std::span<const abi::RegionEntry> right) {
    return std::ranges::equal(std::as_bytes(left), std::as_bytes(right));
}

bool same_path(std::string_view path, std::string_view full) {
    return path.starts_with('~') ? full.ends_with(path.substr(1)) : path == full;
}

std::vector<std::string> aliases_of(std::string_view path, const Aliases& aliases) {
    std::vector<std::string> found;
    for (const auto& [alias, full] : aliases) {
        if (same_path(path, full)) {
            found.push_back(alias);
        }
    }
    return found;
}

std::vector<std::string> names_of(std::string_view path, const Aliases& aliases) {
    std::vector<std::string> names = aliases_of(path, aliases);
    names.emplace_back(path);
    for (std::string_view end = path; !end.empty();) {
        end.remove_prefix(1); // "/", or "~"
        names.emplace_back(end);
        end.remove_prefix(std::min(end.find('/'), end.size()));
    }
    names.push_back(names.back().substr(0, names.back().find('@')));
    return names;
}

std::vector<std::string_view> paths_called(std::string_view name, const Aliases& aliases,
                                           const std::set<std::string_view>& paths) {
    const auto alias = aliases.find(std::string(name));
    const std::string_view whole = alias == aliases.end() ? name : alias->second;
    std::vector<std::string_view> called;
    for (const std::string_view path : paths) {
        if (same_path(path, whole)) {
            return {path};
        }
        if (std::ranges::count(names_of(path, {}), name) > 0) {
            called.push_back(path);
        }
    }
    return called;
}

std::string_view region_path(const abi::RegionEntry& region) {
    return {region.path, ::strnlen(region.path, sizeof region.path)};
}

DeviceNames::DeviceNames(std::span<const abi::RegionEntry> regions,
                         std::span<const std::byte> tree) {
    Paths paths;
    for (const abi::RegionEntry& region : regions) {
        paths.insert(region_path(region));
    }
    const std::map<std::string_view, std::string_view> ends = unique_ends(paths);
    const Aliases of_tree = aliases(tree);
    for (const abi::RegionEntry& region : regions) {
        const std::string_view path = region_path(region);
        const std::vector<std::string> own = aliases_of(path, of_tree);
        std::string name(!own.empty() ? own.back() : path.empty() ? "-" : ends.at(path));
        if (region.reg_index > 0) {
            name += fmt::format("[{}]", region.reg_index);
        }
        width_ = std::max(width_, name.size());
        names_.push_back(printable(name));
        bases_.push_back(region.base);
    }
}

std::string_view DeviceNames::operator[](std::uint16_t device) const {
    return device < names_.size() ? std::string_view(names_[device]) : "-";
}

std::uint64_t DeviceNames::base(std::uint16_t device) const {
    return device < bases_.size() ? bases_[device] : 0;
}

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
