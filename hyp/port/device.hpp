// One access to a device, exactly as wide as asked for and never repeated.
#pragma once

#include "base/address.hpp"

namespace mmioscope::port {

/// Reads 1, 2, 4 or 8 bytes (`log2_size` 0 to 3) at an aligned address.
std::uint64_t device_read(PhysicalAddress address, unsigned log2_size);
void device_write(PhysicalAddress address, unsigned log2_size, std::uint64_t value);

/// What the bus answered to an access on the guest's behalf.
struct Answer {
    std::uint32_t value; ///< of a read
    std::uint32_t hsr;   ///< 0, or of the synchronous external abort that Hyp met in its place
};

/// Reads or writes 1, 2 or 4 bytes (`log2_size` 0 to 2) where the bus may answer with an error.
Answer try_device_read(PhysicalAddress address, unsigned log2_size);
Answer try_device_write(PhysicalAddress address, unsigned log2_size, std::uint32_t value);

} // namespace mmioscope::port
