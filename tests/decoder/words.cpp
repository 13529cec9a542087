#include "words.hpp"

#include <span>

namespace mmioscope::decoder_test {

namespace {

struct Row {
    std::uint32_t mask;
    std::uint32_t value;
};

// Rows of the encoding tables that random words would hit too rarely.
constexpr Row arm_rows[] = {
    {0x0fb0'0ff0, 0x0100'0090}, // SWP, SWPB
    {0x0f90'0fff, 0x0190'0f9f}, // LDREX and sizes
    {0x0f90'0ff0, 0x0180'0f90}, // STREX and sizes
    {0xfe50'ffff, 0xf810'0a00}, // RFE
    {0xfe5f'ffe0, 0xf84d'0500}, // SRS
    {0x0e50'ffff, 0x0810'0000}, // LDM of no register
};
constexpr Row thumb_rows[] = {
    {0xfff0'0f00, 0xe850'0f00}, // LDREX
    {0xfff0'0000, 0xe840'0000}, // STREX
    {0xfff0'0f8f, 0xe8d0'0f0f}, // LDREXB, LDREXH, LDREXD
    {0xfff0'0f80, 0xe8c0'0f00}, // STREXB, STREXH, STREXD
    {0xfff0'ffe0, 0xe8d0'f000}, // TBB, TBH
    {0xfe50'ffff, 0xe810'c000}, // RFE
    {0xfe50'ffe0, 0xe800'c000}, // SRS
    {0xffff'ffff, 0xe97f'e97f}, // SG of another profile: LDRD here
};
constexpr std::uint64_t words_of_a_row = 4096;

/// Bits 28:20 and 11:4 take all values.
constexpr std::uint32_t swept_bits = 0x1ff0'0ff0;
constexpr std::uint64_t fillings = 8;
constexpr std::uint64_t words_of_sweep = fillings << 17;

std::span<const Row> rows_of(Set set) {
    return set == Set::arm ? std::span<const Row>{arm_rows} : std::span<const Row>{thumb_rows};
}

} // namespace

/// A random word, sometimes with PC, SP, LR or 0 where most encodings have Rm, Rt and Rn.
std::uint32_t Words::filling() {
    constexpr std::uint32_t special[] = {0xf, 0xd, 0xe, 0x0};
    std::uint32_t word = random();
    for (const unsigned at : {0u, 12u, 16u}) {
        const std::uint32_t which = random() % 8;
        if (which < 4) word = (word & ~(0xfu << at)) | special[which] << at;
    }
    return word;
}

std::uint32_t Words::wide(std::uint64_t n) {
    const auto rows = rows_of(set_);
    if (n < rows.size() * words_of_a_row) {
        const Row& row = rows[n / words_of_a_row];
        return into_set((filling() & ~row.mask) | row.value);
    }
    n -= rows.size() * words_of_a_row;
    if (n >= words_of_sweep) return into_set(random());
    const auto choice = static_cast<std::uint32_t>(n / fillings);
    const std::uint32_t bits = (choice & 0xff) << 4 | (choice >> 8) << 20;
    constexpr std::uint32_t top = 0xe000'0000; // ARM: the condition "always", and its opposite
    return into_set(top | (filling() & 0x1fff'ffff & ~swept_bits) | bits);
}

std::uint32_t Words::into_set(std::uint32_t word) const {
    if (set_ == Set::arm) return word;
    word |= 0xe000'0000;
    if ((word >> 27 & 3) != 0) return word;
    return word | 0x0800'0000 << (word & 1); // 11100 begins a 16-bit branch: 11101 or 11110
}

} // namespace mmioscope::decoder_test
