// A trace that lacks most events: verify reports how many, and nothing else.
#include "bus.hpp"
#include "catch_2_or_3.hpp"
#include "verify/result_text.hpp"

#include <random>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr unsigned count = 20'000;

/// Writes of unique values; one in `polls` looks like many others (0: none).
Bus busy_bus(unsigned seed, unsigned polls) {
    Bus bus(seed, 0);
    std::mt19937 random(seed);
    std::uint32_t locks[3] = {};
    std::uint32_t sequences[2] = {};
    for (unsigned i = 0; i < count; ++i) {
        const unsigned cpu = static_cast<unsigned>(random() % 2);
        const bool poll = polls != 0 && random() % polls == 0;
        abi::Record record = access(cpu, sequences[cpu]++, 1000 + 10 * i);
        record.duration = 8;
        record.device = poll ? 1 : 0;
        record.lock_sequence = locks[record.device]++;
        record.access = abi::encode_access(!poll, 2);
        record.pa_low = static_cast<std::uint32_t>(bus.regions[record.device].base);
        record.value = poll ? random() % 2 : i;
        bus.add(record);
    }
    return bus;
}

/// Removes about 60 %: single ones, and long runs. Returns the number left.
std::size_t thin_out(Bus& bus, unsigned seed) {
    std::mt19937 random(seed + 1);
    std::size_t run = 0;
    std::vector<abi::Record> kept;
    for (const abi::Record& record : bus.trace) {
        if (run == 0 && random() % 300 == 0) {
            run = random() % 400;
        }
        if (run > 0) {
            --run;
        } else if (random() % 3 != 0) {
            kept.push_back(record);
        }
    }
    bus.trace = kept;
    return kept.size();
}

} // namespace

TEST_CASE("a trace that lacks most records lacks exactly those") {
    const unsigned seed = GENERATE(range(0u, 6u));
    Bus bus = busy_bus(seed, 0);
    const std::size_t left = thin_out(bus, seed);
    REQUIRE(left < count * 6 / 10);
    const verify::Result result = bus.compare();
    CHECK(verify::verdict(result) ==
          fmt::format("verify: {} events compared, {} differences: {} missing", left, count - left,
                      count - left));
    CHECK(verify::counts(result, count, left) ==
          fmt::format("log {} trace {} compared {} missing {} extra 0 value 0 size 0 direction 0 "
                      "address 0 cpu 0 pc 0 order 0 unreadable 0",
                      count, left, left, count - left));
}

TEST_CASE("records like others are matched where they may belong, and are not taken for extra") {
    Bus bus = busy_bus(3, 8);
    const std::size_t left = thin_out(bus, 3);
    const verify::Result result = bus.compare();
    const auto number = [&](verify::Kind kind) {
        return result.by_kind[static_cast<std::size_t>(kind)];
    };
    CHECK(number(verify::Kind::missing) == count - left);
    // A poll may be matched too early, which then shows as order: reported, not hidden.
    CHECK(number(verify::Kind::order) < count / 100);
    CHECK(result.differences.size() == number(verify::Kind::missing) + number(verify::Kind::order));
}

TEST_CASE("other errors are found in a trace that lacks most records") {
    Bus bus = busy_bus(7, 0);
    const std::size_t left = thin_out(bus, 7);
    const std::size_t at = left / 2;
    SECTION("swapped") {
        std::swap(bus.trace[at].value, bus.trace[at + 5].value);
        bus.trace[at].value = bus.trace[at + 5].value + 1'000'000;
    }
    SECTION("extra") {
        bus.trace[at].value = 0x7777'7777;
    }
    const verify::Result result = bus.compare();
    CHECK(result.differences.size() > count - left);
}
