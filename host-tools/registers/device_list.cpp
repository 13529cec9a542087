#include "registers/device_list.hpp"

#include "tree/device_names.hpp"
#include "tree/device_tree.hpp"

namespace mmioscope::registers {

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
            device.path = nodes.path(device.node);
            device.compatible = nodes.strings(device.node, "compatible");
        }
        if (const auto own = tree::aliases_of(device.path, aliases); !own.empty()) {
            device.alias = own.back();
        }
        devices.push_back(std::move(device));
    }
    return devices;
}

} // namespace mmioscope::registers
