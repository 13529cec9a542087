#include "port/device.hpp"

// entry/vectors.S. An Answer comes back in two registers, as a doubleword does.
extern "C" {
std::uint64_t mmioscope_try_read8(std::uint32_t address);
std::uint64_t mmioscope_try_read16(std::uint32_t address);
std::uint64_t mmioscope_try_read32(std::uint32_t address);
std::uint64_t mmioscope_try_write8(std::uint32_t address, std::uint32_t value);
std::uint64_t mmioscope_try_write16(std::uint32_t address, std::uint32_t value);
std::uint64_t mmioscope_try_write32(std::uint32_t address, std::uint32_t value);
}

namespace mmioscope::port {

namespace {
Answer answer(std::uint64_t doubleword) {
    return {static_cast<std::uint32_t>(doubleword), static_cast<std::uint32_t>(doubleword >> 32)};
}

template <class T>
volatile T& at(PhysicalAddress a) {
    return *reinterpret_cast<volatile T*>(static_cast<std::uintptr_t>(a.value));
}
} // namespace

// Volatile scalars: the compiler neither merges, splits nor repeats them (GCC manual 6.47).
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

Answer try_device_read(PhysicalAddress address, unsigned log2_size) {
    const auto at = static_cast<std::uint32_t>(address.value);
    switch (log2_size) {
    case 0: return answer(mmioscope_try_read8(at));
    case 1: return answer(mmioscope_try_read16(at));
    default: return answer(mmioscope_try_read32(at));
    }
}

Answer try_device_write(PhysicalAddress address, unsigned log2_size, std::uint32_t value) {
    const auto at = static_cast<std::uint32_t>(address.value);
    switch (log2_size) {
    case 0: return answer(mmioscope_try_write8(at, value));
    case 1: return answer(mmioscope_try_write16(at, value));
    default: return answer(mmioscope_try_write32(at, value));
    }
}

} // namespace mmioscope::port
