// Where the time went: in devices, and in traps.
#include "analysis/time_spent.hpp"

#include "catch_2_or_3.hpp"
#include "given_event.hpp"

#include <cstdint>

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("time in traps is the distance in loops, and not known without one") {
    analysis::TimeSpent spent;
    const auto add = [&](unsigned cpu, std::uint64_t time, std::uint32_t pc) {
        Event event = given_event({}, {.device = "uart"});
        event.record.type = abi::RecordType::access;
        event.record.duration = 10;
        event.nanoseconds = time;
        event.record.time = time;
        event.record.cpu = static_cast<std::uint8_t>(cpu);
        event.record.pc = pc;
        spent.add(event);
    };
    for (std::uint64_t i = 0; i < 100; ++i) {
        add(0, 1000 + i * 15, 0x8000'0000); // 10 in the device, 5 between
    }
    const auto cell = [&spent](std::size_t column) { return spent.table(1000).rows[0][column]; };
    CHECK(std::get<std::uint64_t>(cell(1)) == 100);
    CHECK(std::get<std::uint64_t>(cell(2)) == 1'000'000'000);
    CHECK(std::get<std::uint64_t>(cell(3)) == 500'000'000);
    add(1, 5000, 0x8000'0000);
    add(1, 5011, 0x8000'0100); // not a loop
    CHECK(std::holds_alternative<std::monostate>(cell(3)));
}
