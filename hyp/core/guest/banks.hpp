// Reads the registers that an instruction's accesses move (arch/instruction.hpp).
#pragma once

#include "arch/instruction.hpp"
#include "guest/registers.hpp"

#include <optional>

namespace mmioscope {

/// The `1 << log2_size` bytes (1 to 4) at byte `place` of D0 to D31. Nothing if the guest's
/// settings forbid it, and Hyp, too, to use them: the instruction that trapped has used them, but
/// the word that was fetched since may be another one.
std::optional<std::uint32_t> vector_value(unsigned place, unsigned log2_size);

/// The register at `place`, or its `1 << log2_size` bytes. Nothing if it cannot be read, or if the
/// instruction is UNPREDICTABLE in User and System mode (LDM and STM with `^`, SRS: B9.3.5,
/// B9.3.15, B9.3.17).
[[gnu::always_inline]] inline std::optional<std::uint32_t>
banked_value(const Frame& frame, arch::Bank bank, unsigned place, unsigned log2_size) {
    if (bank == arch::Bank::core && place != arch::place_spsr) return guest_register(frame, place);
    if (bank == arch::Bank::vector) return vector_value(place, log2_size);
    if (!has_own_bank(frame)) return std::nullopt;
    return bank == arch::Bank::user ? user_register(frame, place) : saved_psr(frame);
}

} // namespace mmioscope
