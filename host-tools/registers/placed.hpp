// The registers of SVD peripherals as a device sees them: by offset from the device's own address.
#pragma once

#include "registers/description.hpp"
#include "tree/tree_nodes.hpp"

#include <span>

namespace mmioscope::registers {

/// Whether a register of the SVD peripheral `one` may lie in `range`.
bool reaches(const Description& one, const tree::AddressRange& range);

/// The registers of `peripherals` from the start of `range` on, the first peripheral's first. If
/// they have different addresses, the names begin with the peripheral's: "SPI1_CR".
Description placed(std::span<const Description* const> peripherals,
                   const tree::AddressRange& range);

} // namespace mmioscope::registers
