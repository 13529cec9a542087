#include "arch/lpae.hpp"
#include "catch_2_or_3.hpp"

using namespace mmioscope;
using namespace mmioscope::lpae;

TEST_CASE("an address is split into indices of nine bits") {
    constexpr std::uint64_t address = 0xdead'beef;
    CHECK(level_index(address, 1) == 3);
    CHECK(level_index(address, 2) == (0xdead'beef >> 21 & 511));
    CHECK(level_index(address, 3) == (0xdead'beef >> 12 & 511));
}

TEST_CASE("descriptors have the bits given in the manual") {
    CHECK(make_table({0x8200'1000}) == 0x8200'1003);
    CHECK(make_leaf(0x8000'0000, guest_memory, 2) ==
          0x8000'07fd); // AF, inner, RW, Normal WB, block
    CHECK(make_leaf(0x8000'0000, guest_memory, 3) == 0x8000'07ff);
    CHECK(make_leaf(0x1c13'0000, guest_device, 3) == 0x0040'0000'1c13'04ff);  // XN, Normal WB
    CHECK(make_leaf(0x1c13'0000, traced_device, 3) == 0x0040'0000'1c13'04d7); // XN, Normal NC
    CHECK(untraced(traced_device).bits == guest_device.bits);
    CHECK(untraced(guest_memory).bits == guest_memory.bits);
    CHECK(make_leaf(0x8200'0000, hyp_text, 3) == 0x8200'07c7); // read-only, executable
    CHECK(make_leaf(0x8200'0000, hyp_data, 3) == 0x0040'0000'8200'0747);
    CHECK(make_leaf(0x1c0a'0000, hyp_device, 3) == 0x0040'0000'1c0a'0743);
}

TEST_CASE("tables, blocks and pages are distinguished by level") {
    CHECK(is_table(0x8200'1003, 1));
    CHECK(is_table(0x8200'1003, 2));
    CHECK(!is_table(0x8200'1003, 3));
    CHECK(!is_table(0x8000'0001, 2));
    CHECK(!is_valid(0x8000'0002));
    CHECK(output_address(0xfff0'00ff'ffff'ffff) == 0xff'ffff'f000);
}

TEST_CASE("no mapping of Hyp is both writable and executable") {
    for (const Attributes a : {hyp_text, hyp_constants, hyp_data, hyp_device}) {
        const bool writable = (a.bits & s1_read_only) == 0;
        const bool executable = (a.bits & execute_never) == 0;
        CHECK(!(writable && executable));
    }
}

TEST_CASE("what is not traced has the same attributes, whether steps use breakpoints or a page") {
    CHECK(untraced(traced_device).bits == guest_device.bits);
    CHECK(untraced(guest_memory).bits == guest_memory.bits);
    CHECK(untraced(guest_data).bits == guest_memory.bits);
}
