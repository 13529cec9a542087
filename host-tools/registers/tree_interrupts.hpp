// The GIC interrupts that a device tree assigns to its nodes.
#pragma once

#include "tree/tree_nodes.hpp"

#include <string>
#include <vector>

namespace mmioscope::registers {

struct TreeInterrupt {
    unsigned id;      ///< as in the GIC: 16 to 31 private, 32 and up shared
    std::string name; ///< from `interrupt-names`; may be empty
};

/// Whether the node is a GIC with distributor and CPU interface (version 1 or 2).
bool is_gic(const tree::TreeNodes& tree, std::size_t node);

/// The interrupts in `interrupts` or `interrupts-extended` of `node`, through `interrupt-map`s and
/// controllers that pass on the GIC's own numbers. Leaves out those that end elsewhere (a GPIO,
/// PCI).
std::vector<TreeInterrupt> interrupts_of(const tree::TreeNodes& tree, std::size_t node);

} // namespace mmioscope::registers
