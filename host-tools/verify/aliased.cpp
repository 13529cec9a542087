#include "verify/aliased.hpp"

#include "tree/device_names.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace mmioscope::verify {

namespace {

struct Alias {
    std::string_view model; ///< QEMU's name for the memory region
    std::string_view node;  ///< the device's name in the device tree, before the '@'
};
constexpr std::array aliases = {
    Alias{"pcie-mmcfg-mmio", "pcie"}, // configuration space of virt (hw/arm/virt.c)
};

std::optional<std::uint64_t> base_of(std::string_view node,
                                     std::span<const abi::RegionEntry> regions) {
    for (const abi::RegionEntry& region : regions) {
        std::string_view name = tree::region_path(region);
        name.remove_prefix(name.rfind('/') + 1);
        if (region.reg_index == 0 && name.substr(0, name.find('@')) == node) {
            return region.base;
        }
    }
    return std::nullopt;
}

} // namespace

void place_aliased(importing::AccessLog& log, std::span<const abi::RegionEntry> regions) {
    for (const Alias& alias : aliases) {
        const std::optional<std::uint64_t> base = base_of(alias.node, regions);
        if (!base) {
            continue;
        }
        for (importing::Line& line : log.lines) {
            if (line.kind == importing::LineKind::access && log.regions[line.region] == alias.model) {
                line.address += *base;
            }
        }
    }
}

} // namespace mmioscope::verify
