// Readers that come late, leave, or end while the hypervisor continues; and what a trace lacks
// then.
#include "../../guest-linux/program/left_out.hpp"
#include "catch_2_or_3.hpp"
#include "fake_area.hpp"
#include "rings/merge.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr unsigned late = abi::drain_reader; // FakeArea's rings do not wait for it

abi::Record record_at(FakeCpu& cpu, unsigned number, std::uint64_t time) {
    abi::Record record{};
    record.type = abi::RecordType::access;
    record.cpu = static_cast<std::uint8_t>(number);
    record.time = time;
    record.cpu_sequence = cpu.next_sequence();
    return record;
}

struct Two {
    FakeArea area{2, 64};
    FakeCpu cpu0{area, 0};
    FakeCpu cpu1{area, 1};

    void publish(unsigned cpu, std::uint64_t time) {
        FakeCpu& writer = cpu == 0 ? cpu0 : cpu1;
        writer.publish(record_at(writer, cpu, time));
    }
};

std::vector<std::uint64_t> times(const std::vector<abi::Record>& records) {
    std::vector<std::uint64_t> all;
    for (const abi::Record& record : records) {
        all.push_back(record.time);
    }
    return all;
}

std::vector<std::uint64_t> rest_of(rings::OrderedRings& rings) {
    std::vector<abi::Record> ordered;
    rings.stop();
    while (rings.pass(ordered) > 0) {
    }
    rings.flush(ordered);
    return times(ordered);
}

using Times = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("an awaited reader gets all records, another reader only new ones") {
    Two two;
    two.publish(0, 10);
    two.publish(1, 20);
    rings::Area area(two.area.bytes());
    rings::OrderedRings waited(area, abi::host_reader);
    rings::OrderedRings coming(area, late);
    two.publish(0, 30);
    CHECK(rest_of(waited) == Times{10, 20, 30});
    CHECK(rest_of(coming) == Times{30});
}

TEST_CASE("a late reader takes no record that is older than one it has missed") {
    Two two;
    two.publish(0, 10);
    rings::Area area(two.area.bytes());
    two.area.ring(0).readers[late] = {1, 1, {}}; // it arrived between these two
    two.publish(0, 15);
    two.publish(1, 20);
    rings::OrderedRings rings(area, late);
    two.publish(0, 25);
    CHECK(rest_of(rings) == Times{25});
}

TEST_CASE("a killed reader is continued where it stopped, one that left is not waited for") {
    Two two;
    two.publish(0, 10);
    rings::Area area(two.area.bytes());
    std::vector<abi::Record> ordered;
    for (const bool leaves : {false, true}) {
        rings::OrderedRings first(area, late);
        two.publish(0, 20);
        first.pass(ordered);
        if (leaves) {
            first.leave();
        }
        CHECK(two.area.ring(0).readers[late].active == (leaves ? 0 : 1));
        two.publish(0, 30);
        rings::OrderedRings second(area, late);
        CHECK(rest_of(second) == (leaves ? Times{} : Times{30}));
        second.leave();
    }
}

TEST_CASE("reading does not continue from an invalid position") {
    Two two;
    two.publish(0, 10);
    two.publish(1, 20);
    two.area.ring(0).readers[late] = {std::uint64_t{1} << 40, 1, {}};
    two.area.ring(1).readers[late] = {0, 1, {}};
    rings::Area area(two.area.bytes());
    rings::OrderedRings rings(area, late);
    CHECK(rest_of(rings) == Times{10, 20});
}

TEST_CASE("records published after stop are not taken, and the next number is known") {
    Two two;
    two.area.ring(0).next_sequence = 1;
    two.publish(0, 10);
    rings::Area area(two.area.bytes());
    rings::OrderedRings rings(area, abi::host_reader);
    rings.stop();
    two.publish(0, 20);
    std::vector<abi::Record> ordered;
    rings.pass(ordered);
    rings.flush(ordered);
    CHECK(times(ordered) == Times{10});
    CHECK(rings.settled());
    CHECK(rings.rings()[0].next_sequence() == 1);
}

TEST_CASE("records left out leave no hole in the numbers, lost records do") {
    std::vector<abi::Record> records(6);
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        records[i].cpu = i % 2;
        records[i].cpu_sequence = 10 + i; // every other record of each CPU is missing
        records[i].device = i < 4 ? 7 : 8;
    }
    guest::LeftOut left_out({7});
    left_out.apply(records);
    REQUIRE(records.size() == 2);
    CHECK(left_out.count() == 4);
    CHECK(records[0].cpu_sequence == 12); // 10, 12 and 14, two of them overwritten
    CHECK(records[1].cpu_sequence == 13);
    CHECK(left_out.renumbered(0, 15) == 13);
    std::vector<abi::Record> same(records);
    guest::LeftOut({}).apply(same);
    CHECK(same.size() == 2);
}
