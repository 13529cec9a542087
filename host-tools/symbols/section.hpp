// The section of a trace file that holds the names of the guest's code (abi/container.hpp).
#pragma once

#include "symbols/symbol.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace mmioscope::symbols {

/// Its payload; empty if there are no symbols. Throws Error (bad_input) if they are more than a
/// file takes.
std::vector<std::byte> pack(std::span<const Symbol> symbols);

/// Throws Error (bad_input) if `payload` is nothing that pack() has made.
SymbolList unpack(std::span<const std::byte> payload);

} // namespace mmioscope::symbols
