#include "registers/device_list.hpp"

#include "import/importing.hpp"
#include "tree/device_names.hpp"
#include "tree/device_tree.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace mmioscope::registers {

constexpr std::size_t longest_path = 1024; ///< many devices may be of one node

std::vector<Device> list_devices(std::span<const abi::RegionEntry> regions,
                                 std::span<const std::byte> tree) {
    const tree::TreeNodes nodes(tree);
    const tree::Aliases aliases = tree::aliases(tree);
    std::vector<Device> devices;
    for (const abi::RegionEntry& region : regions) {
        Device device;
        device.path = tree::region_path(region);
        device.reg_index = region.reg_index;
        device.range = {region.base, region.size};
        device.traced = (region.flags & abi::region_traced) != 0;
        device.disabled = (region.flags & abi::region_disabled) != 0;
        device.node = nodes.find(device.path);
        if (device.node != tree::TreeNodes::none) {
            if (std::string path = nodes.path(device.node); path.size() <= longest_path) {
                device.path = std::move(path);
            }
            device.compatible = nodes.strings(device.node, "compatible");
        }
        if (const auto own = tree::aliases_of(device.path, aliases); !own.empty()) {
            device.alias = own.back();
        }
        devices.push_back(std::move(device));
    }
    return devices;
}

void name_pci_functions(std::span<Device> devices, const std::map<std::string, std::string>& text) {
    for (const auto& [key, line] : text) {
        unsigned place = 0;
        unsigned vendor = 0;
        unsigned function = 0;
        if (!key.starts_with(importing::pci_key) ||
            std::sscanf(key.c_str() + importing::pci_key.size(), "%4x", &place) != 1 || // NOLINT
            std::sscanf(line.c_str(), "%4x%4x", &vendor, &function) != 2) {             // NOLINT
            continue;
        }
        const std::string path =
            fmt::format("/{:02x}:{:02x}.{:x},", place >> 8, place >> 3 & 0x1f, place & 7);
        for (Device& device : devices) {
            if (device.path.starts_with(path)) {
                device.compatible = {fmt::format("pci{:04x},{:04x}", vendor, function),
                                     fmt::format("pci{:x},{:x}", vendor, function)};
            }
        }
    }
}

} // namespace mmioscope::registers
