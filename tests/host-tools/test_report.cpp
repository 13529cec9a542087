// What the report keeps of a long trace, and how it gets into a page.
#include "analysis/time_spent.hpp"
#include "report/excerpt.hpp"
#include "report/script.hpp"
#include "report/timeline.hpp"
#include "report/values.hpp"
#include "table/table.hpp"

#include "catch_2_or_3.hpp"
#include "given_event.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// Accesses, numbered one after the other.
class Source {
public:
    Event access(std::uint16_t device, std::uint64_t nanoseconds, std::uint32_t duration,
                 std::uint64_t value = 0, bool writes = false) {
        Event event = made_;
        event.record.type = abi::RecordType::access;
        event.record.device = device;
        event.record.duration = duration;
        event.record.value = value;
        event.record.access = static_cast<std::uint8_t>(2u << abi::access_size_shift |
                                                        (writes ? abi::access_write : 0));
        event.nanoseconds = nanoseconds;
        event.number = ++number_;
        return event;
    }

private:
    Event made_ = given_event({}, {.device = "uart"});
    std::uint64_t number_ = 0;
};

struct Sum {
    std::uint64_t reads = 0, writes = 0, ticks = 0;
    std::uint32_t longest = 0;
    std::uint64_t event = 0;
    bool operator==(const Sum&) const = default;
};

std::string text_of(const std::function<void(report::Script&)>& put) {
    std::string text;
    report::Script script([&text](std::string_view piece) { text += piece; });
    put(script);
    script.flush();
    return text;
}

} // namespace

TEST_CASE("report: the timeline counts every access and keeps the longest, in bounded memory") {
    std::mt19937 random(7);
    Source source;
    report::Timeline timeline;
    std::map<std::uint16_t, Sum> expected;
    std::uint64_t now = 0;
    for (int i = 0; i < 400'000; ++i) {
        now += random() % 100;
        // A device in a thousand accesses is rare, and one access in all of them is slow.
        const std::uint16_t device = i % 1000 == 0 ? 1 : 0;
        const std::uint32_t duration =
            i == 123'457 ? 5'000'000 : 1 + static_cast<std::uint32_t>(random() % 1000);
        const Event event = source.access(device, now, duration, 0, i % 3 == 0);
        timeline.add(event);
        Sum& sum = expected[device];
        ++(i % 3 == 0 ? sum.writes : sum.reads);
        sum.ticks += duration;
        if (duration > sum.longest) {
            sum.longest = duration;
            sum.event = event.number;
        }
    }
    std::size_t cells = 0;
    for (std::uint16_t device = 0; const report::Timeline::Lane* lane : timeline.lanes()) {
        Sum sum;
        std::uint64_t end = 0;
        for (const report::Accesses& cell : lane->buckets.cells()) {
            sum.reads += cell.reads;
            sum.writes += cell.writes;
            sum.ticks += cell.ticks;
            if (cell.longest > sum.longest) {
                sum.longest = cell.longest;
                sum.event = cell.event;
            }
            CHECK(cell.begin >= end);
            end = cell.end;
        }
        CHECK(sum == expected[device++]);
        cells += lane->buckets.cells().size();
    }
    CHECK(cells <= report::Timeline::most_cells);
    CHECK(cells > report::Timeline::most_cells / 4);
    CHECK(timeline.lanes()[0]->buckets.width() > 1);
    CHECK(timeline.lanes()[1]->buckets.width() == 1); // the rare device stays exact
    CHECK(timeline.lanes()[1]->buckets.cells().size() == 400);
    CHECK(timeline.slowest(1) == std::vector<std::uint64_t>{123'458});
    CHECK(timeline.left_out() == 0);
}

TEST_CASE("report: accesses at one time, as of an import without times, are one cell") {
    Source source;
    report::Timeline timeline;
    for (int i = 0; i < 1000; ++i) {
        timeline.add(source.access(0, 0, 0));
    }
    REQUIRE(timeline.lanes().size() == 1);
    REQUIRE(timeline.lanes()[0]->buckets.cells().size() == 1);
    CHECK(timeline.lanes()[0]->buckets.cells()[0].reads == 1000);
}

TEST_CASE("report: times at both ends of what a number holds fit into the room") {
    report::SharedRoom<report::Accesses> room(4);
    report::TimeBuckets<report::Accesses> buckets;
    room.share(buckets);
    for (const std::uint64_t time : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX / 2,
                                     UINT64_MAX - 1, UINT64_MAX, std::uint64_t{5}}) {
        room.add(buckets, {time, time, 1, 1, 1, 1, 0});
    }
    CHECK(buckets.cells().size() <= 4);
    std::uint64_t reads = 0;
    for (const report::Accesses& cell : buckets.cells()) {
        reads += cell.reads;
    }
    CHECK(reads == 6);
}

TEST_CASE("report: devices beyond the last lane are counted") {
    Source source;
    report::Timeline timeline;
    for (std::uint16_t device = 0; device < 300; ++device) {
        timeline.add(source.access(device, device, 1));
    }
    CHECK(timeline.lanes().size() == report::Timeline::most_lanes);
    CHECK(timeline.left_out() == 300 - report::Timeline::most_lanes);
}

TEST_CASE("report: of the values of a register none is above or below what is kept") {
    std::mt19937 random(11);
    Source source;
    report::Values values;
    for (std::uint64_t i = 0; i < 200'000; ++i) {
        const std::uint64_t value = i == 77'777   ? 0xffff'0001
                                    : i == 99'999 ? 3
                                                  : 0x100 + random() % 64;
        values.add(source.access(0, i * 10, 1, value));
    }
    REQUIRE(values.series().size() == 1);
    const auto& buckets = values.series().begin()->second.buckets;
    CHECK(buckets.cells().size() <= report::Values::most_cells);
    CHECK(buckets.width() > 1);
    std::uint64_t least = ~0ull, most = 0, ones = 0, zeros = 0, reads = 0;
    for (const report::Seen& cell : buckets.cells()) {
        least = std::min(least, cell.least);
        most = std::max(most, cell.most);
        ones |= cell.ones;
        zeros |= cell.zeros;
        reads += cell.reads;
    }
    CHECK(least == 3);
    CHECK(most == 0xffff'0001);
    CHECK(ones == 0xffff'013f);
    CHECK(zeros == 0xffff'ffff);
    CHECK(reads == 200'000);
}

TEST_CASE("report: a value that stays is one cell, and one that is not known none") {
    Source source;
    report::Values values;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        Event event = source.access(0, i * 10, 1, i < 500 ? 5 : 6);
        event.record.flags = i == 10 ? abi::flag_value_unknown : 0;
        values.add(event);
    }
    const auto& cells = values.series().begin()->second.buckets.cells();
    REQUIRE(cells.size() == 2);
    CHECK(cells[0].reads == 499);
    CHECK(cells[0].end == 4990);
    CHECK(cells[1].begin == 5000);
}

TEST_CASE("report: excerpts are apart, in order, and inside the trace") {
    using report::Spans;
    CHECK(report::spans_of({}, 10) == Spans{{1, 10}});
    CHECK(report::spans_of({}, 1000) == Spans{{1, 300}, {701, 1000}});
    const std::uint64_t chosen[] = {500, 1, 510, 400, 999};
    CHECK(report::spans_of(chosen, 1000) == Spans{{1, 300}, {395, 405}, {495, 515}, {701, 1004}});
}

TEST_CASE("report: nothing in a text ends the element that it is in") {
    const std::string hostile = "</script><!--<script>\"\\\n\xff";
    const std::string text = text_of([&](report::Script& script) { script.string(hostile); });
    CHECK(text.find('<') == text.npos);
    CHECK(text == "\"\\u003c/script>\\u003c!--\\u003cscript>\\\"\\\\\\u000a\\ufffd\"");
}

TEST_CASE("report: a table has its first rows, and the events of the first of these") {
    table::Table table{{{"name", "name"}, {"event", "event", table::Look::number}, {"other_event"}},
                       {}};
    for (std::uint64_t i = 1; i <= report::most_rows + 5; ++i) {
        table.rows.push_back({std::string("<a>"), i, i + 10'000});
    }
    std::vector<std::uint64_t> events;
    const std::string text =
        text_of([&](report::Script& script) { report::put_table(script, table, events); });
    CHECK(events.size() == report::rows_with_excerpts);
    CHECK(events.back() == report::rows_with_excerpts);
    CHECK(text.starts_with(
        "{\"columns\":[{\"name\":\"name\",\"title\":\"name\"},{\"name\":\"event\",\"title\":"
        "\"event\",\"number\":true}],\"rows\":[[\"\\u003ca>\",\"1\"],["));
    CHECK(text.ends_with("[\"\\u003ca>\",\"1000\"]],\"closing\":\"... 5 more\"}"));
}

TEST_CASE("time in traps is the distance in loops, and not known without one") {
    analysis::TimeSpent spent;
    Source source;
    const auto add = [&](unsigned cpu, std::uint64_t time, std::uint32_t pc) {
        Event event = source.access(0, time, 10);
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
