// Reads the guest's VFP and NEON registers.
#pragma once

#include <cstdint>
#include <optional>

namespace mmioscope {

/// The `1 << log2_size` bytes (1 to 4) at byte `place` of D0 to D31. Nothing if the guest's
/// settings forbid it, and Hyp, too, to use them: the instruction that trapped has used them, but
/// the word that was fetched since may be another one.
std::optional<std::uint32_t> vector_value(unsigned place, unsigned log2_size);

} // namespace mmioscope
