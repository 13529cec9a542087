// The merge: nothing leaves too early, and ties fall as the locks say.
#include "lib/merge.hpp"
#include "records.hpp"

#include <catch2/catch.hpp>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Records = std::vector<abi::Record>;

abi::Record record(unsigned cpu, std::uint64_t time, std::uint16_t device, std::uint32_t lock) {
    abi::Record made = access(cpu, 0, time);
    made.device = device;
    made.lock_sequence = lock;
    return made;
}

std::vector<std::uint64_t> times(const Records& records) {
    std::vector<std::uint64_t> all;
    for (const abi::Record& one : records) {
        all.push_back(one.time);
    }
    return all;
}

} // namespace

TEST_CASE("a record waits until no other CPU can publish an earlier one") {
    trace::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 10, 0, 0), record(0, 20, 0, 1)});
    merge.emit(out);
    CHECK(out.empty()); // nothing is known of CPU 1
    merge.set_bound(1, 15, false);
    merge.emit(out);
    CHECK(times(out) == std::vector<std::uint64_t>{10});
    merge.push(1, Records{record(1, 17, 0, 2)});
    merge.set_bound(1, 30, false);
    merge.emit(out);
    CHECK(times(out) == std::vector<std::uint64_t>{10, 17, 20});
}

TEST_CASE("at the bound itself a record leaves only if the other CPU is idle, and a pass later") {
    trace::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 10, 0, 1)});
    merge.set_bound(1, 10, true);
    merge.emit(out);
    CHECK(out.empty()); // CPU 1 may have begun after it was asked and before CPU 0 was
    merge.set_bound(1, 10, false);
    merge.emit(out);
    CHECK(out.empty()); // CPU 1 has begun one at 10, perhaps in front
    merge.set_bound(1, 10, true);
    merge.emit(out);
    CHECK(out.size() == 1);
}

TEST_CASE("bounds never fall") {
    trace::Merge merge(2);
    Records out;
    merge.set_bound(1, 50, false);
    merge.set_bound(1, 5, false);
    merge.push(0, Records{record(0, 40, 0, 0), record(0, 60, 0, 1)});
    merge.emit(out);
    CHECK(times(out) == std::vector<std::uint64_t>{40});
}

TEST_CASE("at one time the records of one device leave in the order of its lock") {
    trace::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 7, 3, 12)});
    merge.push(1, Records{record(1, 7, 4, 0), record(1, 7, 3, 11)});
    merge.flush(out);
    REQUIRE(out.size() == 3);
    CHECK(out[0].device == 4);
    CHECK(out[1].lock_sequence == 11);
    CHECK(out[2].lock_sequence == 12);
}

TEST_CASE("the lock's numbers may wrap") {
    trace::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 7, 3, 0)});
    merge.push(1, Records{record(1, 7, 3, 0xffff'ffff)});
    merge.flush(out);
    CHECK(out[0].lock_sequence == 0xffff'ffff);
}

TEST_CASE("records of one CPU keep their order whatever their times") {
    trace::Merge merge(1);
    Records out;
    merge.push(0, Records{record(0, 9, 0, 0), record(0, 5, 0, 1), record(0, 8, 0, 2)});
    merge.flush(out);
    CHECK(times(out) == std::vector<std::uint64_t>{9, 5, 8});
}

TEST_CASE("records without a device tie without harm") {
    trace::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 7, abi::no_device, 5)});
    merge.push(1, Records{record(1, 7, abi::no_device, 4)});
    merge.flush(out);
    CHECK(out.size() == 2);
    CHECK(out[0].cpu == 0);
}
