#include "start/crc32.hpp"

namespace mmioscope {

namespace {

constexpr std::uint32_t reversed_polynomial = 0xedb8'8320;

/// What a byte contributes.
struct Table {
    std::uint32_t of[256]{};

    constexpr Table() {
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            std::uint32_t crc = byte;
            for (int bit = 0; bit < 8; ++bit)
                crc = (crc & 1) != 0 ? (crc >> 1) ^ reversed_polynomial : crc >> 1;
            of[byte] = crc;
        }
    }
};
constexpr Table table;

} // namespace

std::uint32_t crc32_more(std::uint32_t crc, const std::uint8_t* bytes, std::size_t size) {
    for (const std::uint8_t* const end = bytes + size; bytes != end; ++bytes)
        crc = (crc >> 8) ^ table.of[(crc ^ *bytes) & 0xff];
    return crc;
}

std::uint32_t crc32(const std::uint8_t* bytes, std::size_t size) {
    return crc32_end(crc32_more(crc32_start, bytes, size));
}

} // namespace mmioscope
