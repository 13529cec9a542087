// The devices of a trace, with everything that its device tree says about them.
#pragma once

#include "abi/ring.hpp"
#include "tree/tree_nodes.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::registers {

/// The device of one region of a trace.
struct Device {
    std::string path;  ///< complete, if the tree has the node; otherwise as in the region
    std::string alias; ///< empty: none
    std::vector<std::string> compatible;
    unsigned reg_index = 0;
    tree::AddressRange range{};
    bool traced = false;
    bool disabled = false;
    std::size_t node = tree::TreeNodes::none;
};

/// One for each of `regions`, in order.
std::vector<Device> list_devices(std::span<const abi::RegionEntry> regions,
                                 std::span<const std::byte> tree);

/// Sets `compatible` of the PCI functions of an imported mmiotrace log, as the device tree's PCI
/// binding has it: "pci8086,10d3". `text`: the trace's text, with the log's PCIDEV lines
/// (import/importing.hpp).
void name_pci_functions(std::span<Device> devices, const std::map<std::string, std::string>& text);

} // namespace mmioscope::registers
