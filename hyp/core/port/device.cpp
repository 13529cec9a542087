#include "port/device.hpp"

namespace mmioscope::port {

namespace {
template <class T>
volatile T& at(PhysicalAddress a) {
    return *reinterpret_cast<volatile T*>(static_cast<std::uintptr_t>(a.value));
}
} // namespace

// Volatile scalars: the compiler does not merge, split or repeat the accesses (GCC manual 6.47).
std::uint64_t device_read(PhysicalAddress address, unsigned log2_size) {
    switch (log2_size) {
    case 0: return at<std::uint8_t>(address);
    case 1: return at<std::uint16_t>(address);
    case 2: return at<std::uint32_t>(address);
    default: return at<std::uint64_t>(address);
    }
}

void device_write(PhysicalAddress address, unsigned log2_size, std::uint64_t value) {
    switch (log2_size) {
    case 0: at<std::uint8_t>(address) = static_cast<std::uint8_t>(value); break;
    case 1: at<std::uint16_t>(address) = static_cast<std::uint16_t>(value); break;
    case 2: at<std::uint32_t>(address) = static_cast<std::uint32_t>(value); break;
    default: at<std::uint64_t>(address) = value; break;
    }
}

} // namespace mmioscope::port
