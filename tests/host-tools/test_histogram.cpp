// Percentiles in little memory.
#include "analysis/count_table.hpp"

#include "catch_2_or_3.hpp"
#include "given_event.hpp"

#include <algorithm>
#include <random>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::test;
using analysis::Histogram;

TEST_CASE("histogram: a percentile equals that of the numbers themselves, to within 1/32") {
    std::mt19937 random(3);
    for (const std::uint32_t most : {50u, 1000u, 3'000'000u, ~0u}) {
        Histogram histogram;
        std::vector<std::uint32_t> all;
        for (int i = 0; i < 1000; ++i) {
            all.push_back(std::uniform_int_distribution<std::uint32_t>(0, most)(random));
            histogram.add(all.back());
        }
        std::ranges::sort(all);
        for (const unsigned percent : {1u, 50u, 99u, 100u}) {
            const std::uint64_t exact = all[percent * 10 - 1];
            CHECK(histogram.at(percent) >= exact);
            CHECK(histogram.at(percent) <= exact + exact / 32);
        }
    }
}

TEST_CASE("histogram: without numbers, and with the largest number") {
    Histogram histogram;
    CHECK(histogram.at(50) == 0);
    histogram.add(~0u);
    CHECK(histogram.at(50) == ~0u);
    CHECK(histogram.size() == 1);
}

TEST_CASE("durations are collected for accesses, by each key") {
    using analysis::Key;
    analysis::Durations durations({Key::device, Key::interrupt});
    abi::Record record{};
    record.type = abi::RecordType::access;
    for (const std::uint32_t duration : {1u, 2u, 60u}) {
        record.duration = duration;
        durations.add(given_event(record, {.device = "uart"}));
    }
    record.type = abi::RecordType::gap;
    durations.add(given_event(record, {.device = "uart"}));
    REQUIRE(durations.by(Key::device).count("uart") == 1);
    CHECK(durations.by(Key::device).at("uart").at(50) == 2);
    CHECK(durations.all(Key::device).at(99) == 60);
    CHECK(durations.by(Key::interrupt).empty());
}
