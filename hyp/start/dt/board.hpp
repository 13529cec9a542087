// What the device tree says about the board (board/board.hpp).
#pragma once

#include "board/board.hpp"
#include "dt/tree.hpp"

namespace mmioscope {

/// Fills in `out`; a UART that it finds replaces the one there.
///
/// - UART: `mmioscope,uart`, or else the guest's console, which both use then: `stdout-path`, or
///   else serial0, or else the first UART in use.
/// - GIC: the first node of a GICv1 or GICv2.
/// - PSCI: whether there is a node /psci.
/// - machine registers: the nodes of known devices; an error if there are too many.
BootError read_board(const Tree& tree, Board& out);

/// The UART that the guest and its boot loader use as their console, of any kind; negative: none is
/// known.
int console_of(const Tree& tree);

/// The node of the firmware's PSCI, of version 0.1 to 1.x; negative: there is none.
int psci_node(const Tree& tree);

} // namespace mmioscope
