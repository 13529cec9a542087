// Bit fields of register values, by the manual's bit numbers.
#pragma once

#include <cstdint>

namespace mmioscope {

/// Bits Hi..Lo of a 32-bit register as a T. get() compiles to one UBFX.
template <unsigned Hi, unsigned Lo, class T = std::uint32_t>
struct Field {
    static_assert(Hi >= Lo && Hi < 32);
    static constexpr std::uint32_t mask = (Hi - Lo == 31) ? ~0u : ((1u << (Hi - Lo + 1)) - 1);

    static constexpr T get(std::uint32_t raw) { return static_cast<T>((raw >> Lo) & mask); }
    static constexpr std::uint32_t put(T v) { return (static_cast<std::uint32_t>(v) & mask) << Lo; }
};

template <unsigned N>
using Bit = Field<N, N, bool>;

constexpr std::uint32_t bit(unsigned n) {
    return 1u << n;
}

} // namespace mmioscope
