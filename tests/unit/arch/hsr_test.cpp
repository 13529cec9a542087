#include "arch/hsr.hpp"
#include "catch_2_or_3.hpp"

using namespace mmioscope::arch;

TEST_CASE("HSR of a byte load from a traced page") {
    // EC 0x24, IL, ISV, SAS 0, SSE 0, SRT 3, read, translation fault at level 3.
    constexpr Hsr hsr(0x9303'0007);
    CHECK(hsr.ec() == ExceptionClass::data_abort);
    CHECK(hsr.il());
    CHECK(hsr.isv());
    CHECK(hsr.log2_size() == 0);
    CHECK(!hsr.sign_extend());
    CHECK(hsr.srt() == 3);
    CHECK(!hsr.write());
    CHECK(hsr.translation_fault());
    CHECK(!hsr.permission_fault());
    CHECK(!hsr.debug_event());
}

TEST_CASE("HSR of a 16-bit store of a word") {
    constexpr Hsr hsr(0x918e'0046); // SAS 2, SRT 14, WnR, level 2, IL clear
    CHECK(!hsr.il());
    CHECK(hsr.log2_size() == 2);
    CHECK(hsr.srt() == 14);
    CHECK(hsr.write());
    CHECK(hsr.translation_fault());
}

TEST_CASE("HSR of a sign-extending load, and of aborts without a valid syndrome") {
    CHECK(Hsr(0x9365'0007).sign_extend());
    CHECK(Hsr(0x9365'0007).log2_size() == 1);
    CHECK(!Hsr(0x9200'0047).isv());
    CHECK(Hsr(0x9200'0147).cache_maintenance());
    CHECK(Hsr(0x9200'0087).stage1_walk());
    CHECK(Hsr(0x9200'0210).external());
}

TEST_CASE("HSR of aborts on table walks: external and parity, of each level, and no others") {
    for (const std::uint32_t status : {0x15u, 0x16u, 0x17u, 0x1du, 0x1eu, 0x1fu})
        CHECK(Hsr(0x9200'0000 | status).abort_on_walk());
    for (const std::uint32_t status :
         {0x05u, 0x07u, 0x0bu, 0x0fu, 0x10u, 0x11u, 0x18u, 0x19u, 0x21u, 0x22u, 0x30u, 0x34u})
        CHECK(!Hsr(0x9200'0000 | status).abort_on_walk());
}

TEST_CASE("HSR of prefetch aborts: debug events, unmapped pages, pages that are execute-never") {
    CHECK(Hsr(0x8200'0022).ec() == ExceptionClass::prefetch_abort);
    CHECK(Hsr(0x8200'0022).debug_event());
    CHECK(!Hsr(0x8200'0007).debug_event());
    CHECK(Hsr(0x8200'0007).translation_fault());
    CHECK(Hsr(0x8200'000f).permission_fault());
    CHECK(!Hsr(0x8200'000f).translation_fault());
    CHECK(Hsr(0xc200'0022).debug_event()); // an emulator's class for breakpoints
}

TEST_CASE("HSR classes of calls") {
    CHECK(Hsr(0x4a00'0000).ec() == ExceptionClass::hvc);
    CHECK(Hsr(0x4e00'0000).ec() == ExceptionClass::smc);
}

TEST_CASE("faults of every level are distinguished from alignment and external aborts") {
    for (std::uint32_t level = 1; level <= 3; ++level) {
        CHECK(Hsr(0x9200'0004 | level).translation_fault());
        CHECK(!Hsr(0x9200'0008 | level).translation_fault()); // access flag
        CHECK(Hsr(0x9200'000c | level).permission_fault());
    }
    CHECK(!Hsr(0x9200'0021).translation_fault());
    CHECK(!Hsr(0x9200'0010).translation_fault());
}
