// Makes the guest's device tree: the board's, without what the hypervisor keeps for itself.
#pragma once

#include "dt/config.hpp"
#include "mm/memory_map.hpp"

#include <span>

namespace mmioscope {

/// The contents of the node /mmioscope (abi/control.hpp). If there is neither a control page nor an
/// area that the guest may read, there is no such node.
struct ControlRanges {
    Range page;
    Range area;
    bool readable{};
};

/// Whether Linux would turn off the clock of one of the `disabled` nodes, which nobody uses then:
/// its controller gates several clocks.
bool loses_clock(const Tree& tree, std::span<const int> disabled);

/// Writes the tree to `out` (`room` bytes): the memory nodes become `memory`; the nodes
/// `disabled` of `tree` are disabled; the ramdisk is described as Linux
/// expects it; the command line keeps clocks on, if a disabled node would lose its own; the boot
/// modules and the hypervisor's own properties are left out. An error if
/// `room` is too small, or if the tree already has a node /mmioscope.
BootError make_guest_tree(const Tree& tree, const MemoryMap& memory, const BootModules& modules,
                          std::span<const int> disabled, void* out, std::size_t room,
                          const ControlRanges& control = {});

} // namespace mmioscope
