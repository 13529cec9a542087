// Host twin of hyp/core/port/device.hpp: the simulated bus.
#pragma once

#include "base/address.hpp"
#include "sim/port.hpp"

namespace mmioscope::port {

inline std::uint64_t device_read(PhysicalAddress address, unsigned log2_size) {
    return sim::device_read(address, log2_size);
}
inline void device_write(PhysicalAddress address, unsigned log2_size, std::uint64_t value) {
    sim::device_write(address, log2_size, value);
}

using Answer = sim::Answer;
inline Answer try_device_read(PhysicalAddress address, unsigned log2_size) {
    return sim::try_device_read(address, log2_size);
}
inline Answer try_device_write(PhysicalAddress address, unsigned log2_size, std::uint32_t value) {
    return sim::try_device_write(address, log2_size, value);
}

} // namespace mmioscope::port
