// Which interrupts of the GIC a device tree gives to its nodes.
#pragma once

#include "tree/tree_nodes.hpp"

#include <string>
#include <vector>

namespace mmioscope::registers {

struct TreeInterrupt {
    unsigned id;      ///< as the GIC counts: 16 to 31 private, 32 and up shared
    std::string name; ///< by `interrupt-names`; may be empty
};

/// True for a GIC with distributor and CPU interface (version 1 or 2).
bool is_gic(const tree::TreeNodes& tree, std::size_t node);

/// What `interrupts` or `interrupts-extended` of `node` lead to, through `interrupt-map`s and
/// controllers that hand on the GIC's own numbers. Those that end elsewhere (a GPIO, PCI) are left
/// out.
std::vector<TreeInterrupt> interrupts_of(const tree::TreeNodes& tree, std::size_t node);

} // namespace mmioscope::registers
