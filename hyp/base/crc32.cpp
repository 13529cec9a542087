#include "base/crc32.hpp"

namespace mmioscope {

namespace {

constexpr std::uint32_t reversed_polynomial = 0xedb8'8320;

struct HalfByteTable {
    std::uint32_t of[16]{};

    constexpr HalfByteTable() {
        for (std::uint32_t n = 0; n < 16; ++n) {
            std::uint32_t crc = n;
            for (int bit = 0; bit < 4; ++bit)
                crc = (crc & 1) != 0 ? (crc >> 1) ^ reversed_polynomial : crc >> 1;
            of[n] = crc;
        }
    }
};
constexpr HalfByteTable table;

constexpr std::uint32_t step(std::uint32_t crc, std::uint8_t byte) {
    crc ^= byte;
    crc = (crc >> 4) ^ table.of[crc & 15];
    return (crc >> 4) ^ table.of[crc & 15];
}

/// Of two polynomials modulo the CRC's; bit 31 is x^0.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (; a != 0; a <<= 1) {
        if ((a >> 31) != 0) product ^= b;
        b = (b & 1) != 0 ? (b >> 1) ^ reversed_polynomial : b >> 1;
    }
    return product;
}

/// `crc` when `count` bytes of zero have followed: times x^8, as often.
constexpr std::uint32_t behind_zeros(std::uint32_t crc, std::size_t count) {
    std::uint32_t power = 1u << 23; // x^8, squared again and again
    for (; count != 0; count >>= 1) {
        if ((count & 1) != 0) crc = multiply(crc, power);
        power = multiply(power, power);
    }
    return crc;
}

} // namespace

std::uint32_t crc32_more(std::uint32_t crc, const std::uint8_t* bytes, std::size_t size) {
    for (const std::uint8_t* end = bytes + size; bytes != end; ++bytes) {
        crc = step(crc, *bytes);
    }
    return crc;
}

std::uint32_t crc32(const std::uint8_t* bytes, std::size_t size) {
    return crc32_end(crc32_more(crc32_start, bytes, size));
}

std::uint32_t crc32_of_change(std::uint64_t difference, unsigned size, std::size_t behind) {
    std::uint32_t crc = 0;
    for (; size != 0; --size, difference >>= 8)
        crc = step(crc, static_cast<std::uint8_t>(difference));
    return behind_zeros(crc, behind);
}

} // namespace mmioscope
