// What lies in the place that an instruction's access moves (arch/instruction.hpp).
#pragma once

#include "arch/instruction.hpp"
#include "entry/frame.hpp"

#include <optional>

namespace mmioscope {

/// The register's value, or its `1 << log2_size` bytes; nothing where it cannot be read.
std::optional<std::uint32_t> banked_value(const Frame& frame, arch::Bank bank, unsigned place,
                                          unsigned log2_size);

} // namespace mmioscope
