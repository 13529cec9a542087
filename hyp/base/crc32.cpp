#include "base/crc32.hpp"

namespace mmioscope {

namespace {

struct HalfByteTable {
    std::uint32_t of[16]{};

    constexpr HalfByteTable() {
        constexpr std::uint32_t reversed_polynomial = 0xedb8'8320;
        for (std::uint32_t n = 0; n < 16; ++n) {
            std::uint32_t crc = n;
            for (int bit = 0; bit < 4; ++bit)
                crc = (crc & 1) != 0 ? (crc >> 1) ^ reversed_polynomial : crc >> 1;
            of[n] = crc;
        }
    }
};
constexpr HalfByteTable table;

} // namespace

std::uint32_t crc32_more(std::uint32_t crc, const std::uint8_t* bytes, std::size_t size) {
    for (const std::uint8_t* end = bytes + size; bytes != end; ++bytes) {
        crc ^= *bytes;
        crc = (crc >> 4) ^ table.of[crc & 15];
        crc = (crc >> 4) ^ table.of[crc & 15];
    }
    return crc;
}

std::uint32_t crc32(const std::uint8_t* bytes, std::size_t size) {
    return crc32_end(crc32_more(crc32_start, bytes, size));
}

} // namespace mmioscope
