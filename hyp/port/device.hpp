// One access to a device, exactly as wide as asked for and never repeated.
#pragma once

#include "base/address.hpp"

namespace mmioscope::port {

/// Reads 1, 2, 4 or 8 bytes (`log2_size` 0 to 3) at an aligned address.
std::uint64_t device_read(PhysicalAddress address, unsigned log2_size);
void device_write(PhysicalAddress address, unsigned log2_size, std::uint64_t value);

} // namespace mmioscope::port
