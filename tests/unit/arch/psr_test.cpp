#include "arch/debug.hpp"
#include "arch/psr.hpp"
#include "catch_2_or_3.hpp"

using namespace mmioscope::arch;

namespace {
/// ITSTATE[7:2] is in PSR[15:10], ITSTATE[1:0] in PSR[26:25] (ARM ARM A2.5.2).
constexpr std::uint32_t with_it(std::uint32_t it) { return (it >> 2) << 10 | (it & 3) << 25; }
} // namespace

TEST_CASE("ITSTATE advances as in the manual's table A2-2") {
    // cond:mask for blocks of four, three, two and one instruction; the mask's last one is the end.
    struct Row { std::uint32_t before, after; };
    constexpr Row rows[] = {
        {0b0000'0001, 0b0000'0010}, // ITTTT eq, fourth left -> three left
        {0b0000'0010, 0b0000'0100},
        {0b0000'0100, 0b0000'1000},
        {0b0000'1000, 0b0000'0000}, // the last one
        {0b0001'0001, 0b0000'0010}, // ITEEE: the mask's next bit becomes the condition's last
        {0b1010'1101, 0b1011'1010},
        {0b1011'1010, 0b1011'0100},
        {0b1011'0100, 0b1010'1000},
        {0b1010'1000, 0b0000'0000},
        {0b0000'0000, 0b0000'0000},
    };
    for (const Row& row : rows) {
        CAPTURE(row.before);
        CHECK(it_advance(with_it(row.before)) == with_it(row.after));
    }
}

TEST_CASE("ITSTATE advances by shifting the low five bits, whatever it holds") {
    for (std::uint32_t it = 0; it < 256; ++it) {
        const std::uint32_t expected = (it & 7) == 0 ? 0 : (it & 0xe0) | ((it << 1) & 0x1f);
        CAPTURE(it);
        CHECK(it_advance(with_it(it)) == with_it(expected));
    }
}

TEST_CASE("advancing ITSTATE leaves every other bit alone") {
    constexpr std::uint32_t others = ~with_it(0xff);
    CHECK((it_advance(others | with_it(0x31)) & others) == others);
    CHECK(it_advance(others) == others);
}

TEST_CASE("modes have their numbers") {
    CHECK(mode_of(0x6000'01d3) == Mode::svc);
    CHECK(mode_of(0x0000'0010) == Mode::usr);
    CHECK(mode_of(0x0000'001b) == Mode::und);
}

TEST_CASE("breakpoints select the bytes of their instruction") {
    CHECK(address_match(0x1000, false) == 0x41e7); // BAS 1111, PL0 and PL1, enabled
    CHECK(address_match(0x1000, true) == 0x4067);  // BAS 0011
    CHECK(address_match(0x1002, true) == 0x4187);  // BAS 1100
    CHECK(address_value(0x1002) == 0x1000);
    CHECK(breakpoint_count(0x3515'f005) == 6);
}
