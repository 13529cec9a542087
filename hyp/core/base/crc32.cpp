#include "base/crc32.hpp"

#include <memory>

namespace mmioscope {

namespace {

constexpr std::uint32_t reversed_polynomial = 0xedb8'8320;

/// What a byte contributes: behind[n][byte], with n zero bytes after it.
struct Tables {
    std::uint32_t behind[4][256]{};

    constexpr Tables() {
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            std::uint32_t crc = byte;
            for (int bit = 0; bit < 8; ++bit)
                crc = (crc & 1) != 0 ? (crc >> 1) ^ reversed_polynomial : crc >> 1;
            behind[0][byte] = crc;
        }
        for (int n = 1; n < 4; ++n)
            for (int byte = 0; byte < 256; ++byte) {
                const std::uint32_t before = behind[n - 1][byte];
                behind[n][byte] = (before >> 8) ^ behind[0][before & 0xff];
            }
    }
};
constexpr Tables tables;

constexpr std::uint32_t step(std::uint32_t crc, std::uint8_t byte) {
    return (crc >> 8) ^ tables.behind[0][(crc ^ byte) & 0xff];
}

/// Adds the four bytes at an aligned address, the first one lowest: all CPUs that run this are
/// little-endian. In freestanding code memcpy() without the prefix would be a call.
std::uint32_t step_word(std::uint32_t crc, const std::uint8_t* aligned) {
    std::uint32_t word;
    __builtin_memcpy(&word, std::assume_aligned<sizeof word>(aligned), sizeof word);
    crc ^= word;
    return tables.behind[3][crc & 0xff] ^ tables.behind[2][(crc >> 8) & 0xff] ^
           tables.behind[1][(crc >> 16) & 0xff] ^ tables.behind[0][crc >> 24];
}

} // namespace

std::uint32_t crc32_more(std::uint32_t crc, const std::uint8_t* bytes, std::size_t size) {
    const std::uint8_t* end = bytes + size;
    for (; bytes != end && reinterpret_cast<std::uintptr_t>(bytes) % 4 != 0; ++bytes)
        crc = step(crc, *bytes);
    for (; end - bytes >= 4; bytes += 4) crc = step_word(crc, bytes);
    for (; bytes != end; ++bytes) crc = step(crc, *bytes);
    return crc;
}

std::uint32_t crc32(const std::uint8_t* bytes, std::size_t size) {
    return crc32_end(crc32_more(crc32_start, bytes, size));
}

} // namespace mmioscope
