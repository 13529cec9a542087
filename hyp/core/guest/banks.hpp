// Reads the registers that an instruction's accesses move (arch/instruction.hpp).
#pragma once

#include "arch/instruction.hpp"
#include "entry/frame.hpp"

#include <optional>

namespace mmioscope {

/// The register at `place`, or its `1 << log2_size` bytes. Nothing if it cannot be read.
std::optional<std::uint32_t> banked_value(const Frame& frame, arch::Bank bank, unsigned place,
                                          unsigned log2_size);

} // namespace mmioscope
