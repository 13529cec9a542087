// The device tree the guest gets: the board's own, less what the hypervisor keeps for itself.
#pragma once

#include "dt/config.hpp"
#include "mm/memory_map.hpp"

namespace mmioscope {

/// What the node /mmioscope says (abi/control.hpp); where there is neither a page nor an area that
/// the guest may read there is no node.
struct ControlRanges {
    Range page;
    Range area;
    bool readable{};
};

/// Writes it to `out` (`room` bytes): the memory nodes become `memory`, the nodes at `uart_node`
/// and `stream_node` of `tree` are disabled (negative: none), the ramdisk is named as Linux expects
/// it, and the boot modules and the hypervisor's own properties are gone.
BootError make_guest_tree(const Tree& tree, const MemoryMap& memory, const BootModules& modules,
                          int uart_node, int stream_node, void* out, std::size_t room,
                          const ControlRanges& control = {});

} // namespace mmioscope
