// What the guest has in its VFP and NEON registers.
#pragma once

#include <cstdint>
#include <optional>

namespace mmioscope {

/// The `1 << log2_size` bytes (1 to 4) at byte `place` of D0 to D31. Nothing if the guest's
/// settings forbid their use, and with that Hyp's: an instruction that trapped has used them, but
/// the word fetched since need not be that instruction.
std::optional<std::uint32_t> vector_value(unsigned place, unsigned log2_size);

} // namespace mmioscope
