// The trace area is used only if it is consistent.
#include "catch_2_or_3.hpp"
#include "fake_area.hpp"
#include "system/error.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("an area is ready once its magic and its state say so") {
    FakeArea memory(2, 1024);
    CHECK(rings::Area::ready(memory.bytes()));
    memory.header().state = abi::AreaState::starting;
    CHECK(!rings::Area::ready(memory.bytes()));
    memory.header().state = abi::AreaState::running;
    memory.header().magic = 0;
    CHECK(!rings::Area::ready(memory.bytes()));
    CHECK(!rings::Area::ready(memory.bytes().first(100)));
}

TEST_CASE("a sound area is accepted") {
    FakeArea memory(2, 1024);
    const rings::Area area(memory.bytes());
    CHECK(area.rings().size() == 2);
    CHECK(area.rings()[1].capacity == 1024);
    CHECK(area.info().cpu_count == 2);
}

TEST_CASE("an inconsistent area is refused") {
    FakeArea memory(2, 1024);
    auto& header = memory.header();
    SECTION("newer version") {
        header.version_major = abi::version_major + 1;
    }
    SECTION("older version") {
        header.version_major = abi::version_major - 1;
        CHECK_THROWS_WITH(rings::Area(memory.bytes()),
                          Catch::Contains("this program reads version"));
    }
    SECTION("no CPUs") {
        header.cpu_count = 0;
    }
    SECTION("too many CPUs") {
        header.cpu_count = abi::max_cpus + 1;
    }
    SECTION("record size") {
        header.record_size = 24;
    }
    SECTION("region size") {
        header.region_size = 64;
    }
    SECTION("too many regions") {
        header.region_count = abi::max_regions + 1;
    }
    SECTION("regions outside") {
        header.regions_offset = 0xffff'ffff;
        header.region_count = 1;
    }
    SECTION("no frequency") {
        header.counter_frequency = 0;
        CHECK_THROWS_WITH(rings::Area(memory.bytes()), Catch::Contains("CNTFRQ is 0"));
    }
    SECTION("larger than its memory") {
        header.area_size = memory.bytes().size() + 1;
    }
    SECTION("ring outside") {
        header.ring_offset[1] = 0xffff'f000;
    }
    SECTION("ring misplaced") {
        header.ring_offset[1] += 64;
    }
    SECTION("ring too long") {
        memory.ring(0).capacity = 1u << 30;
    }
    SECTION("ring without length") {
        memory.ring(0).capacity = 0;
    }
    SECTION("no ring at its place") {
        memory.ring(1).magic = 0;
    }
    CHECK_THROWS_AS(rings::Area(memory.bytes()), Error);
}
