// Reads the registers that an instruction's accesses move (arch/instruction.hpp).
#pragma once

#include "arch/instruction.hpp"
#include "entry/frame.hpp"

#include <optional>

namespace mmioscope {

/// The register at `place`, or its `1 << log2_size` bytes. Nothing if it cannot be read, or if the
/// instruction is UNPREDICTABLE in User and System mode (LDM and STM with `^`, SRS: B9.3.5,
/// B9.3.15, B9.3.17).
std::optional<std::uint32_t> banked_value(const Frame& frame, arch::Bank bank, unsigned place,
                                          unsigned log2_size);

} // namespace mmioscope
