// Accesses to devices: exactly as wide as requested, and never repeated.
#pragma once

#include "base/address.hpp"

// Defined in entry/vectors.S. They return an Answer in two registers, like a doubleword.
extern "C" {
std::uint64_t mmioscope_try_read8(std::uint32_t address);
std::uint64_t mmioscope_try_read16(std::uint32_t address);
std::uint64_t mmioscope_try_read32(std::uint32_t address);
std::uint64_t mmioscope_try_write8(std::uint32_t address, std::uint32_t value);
std::uint64_t mmioscope_try_write16(std::uint32_t address, std::uint32_t value);
std::uint64_t mmioscope_try_write32(std::uint32_t address, std::uint32_t value);
}

namespace mmioscope::port {

/// Reads 1, 2, 4 or 8 bytes (`log2_size` 0 to 3) at an aligned address.
std::uint64_t device_read(PhysicalAddress address, unsigned log2_size);
void device_write(PhysicalAddress address, unsigned log2_size, std::uint64_t value);

/// The bus's answer to an access for the guest.
struct Answer {
    std::uint32_t value; ///< of a read
    std::uint32_t hsr;   ///< 0, or HSR of the synchronous external abort that Hyp met
};

inline Answer answer(std::uint64_t doubleword) {
    return {static_cast<std::uint32_t>(doubleword), static_cast<std::uint32_t>(doubleword >> 32)};
}

/// Reads 1, 2 or 4 bytes (`log2_size` 0 to 2); the bus may answer with an error.
inline Answer try_device_read(PhysicalAddress address, unsigned log2_size) {
    const auto at = static_cast<std::uint32_t>(address.value);
    if (log2_size == 2) return answer(mmioscope_try_read32(at));
    return answer(log2_size == 0 ? mmioscope_try_read8(at) : mmioscope_try_read16(at));
}

inline Answer try_device_write(PhysicalAddress address, unsigned log2_size, std::uint32_t value) {
    const auto at = static_cast<std::uint32_t>(address.value);
    if (log2_size == 2) return answer(mmioscope_try_write32(at, value));
    return answer(log2_size == 0 ? mmioscope_try_write8(at, value)
                                 : mmioscope_try_write16(at, value));
}

} // namespace mmioscope::port
