// A trace opened with a filter, and without code addresses.
#include "abi/control.hpp"
#include "lib/error.hpp"
#include "reading/strip_code.hpp"
#include "reading/trace.hpp"
#include "sample_event.hpp"

#include <cstring>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// A trace in memory, of `count` accesses to two devices in turn.
FileDescriptor a_trace(unsigned count) {
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    write_info(writer);
    write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/uart@90000"),
                           region(0x1c05'0000, 0x1000, "/bus/mmc@50000")});
    for (unsigned i = 0; i < count; ++i) {
        abi::Record record = access(0, i, i);
        record.device = static_cast<std::uint16_t>(i % 2);
        record.lr = record.sp = record.va = 0xdead'beef;
        writer.append(std::span(&record, 1));
    }
    writer.finish(0, abi::Ending::machine_off);
    return FileDescriptor(::dup(file.get()));
}

std::string path_of(const FileDescriptor& file) {
    return fmt::format("/proc/self/fd/{}", file.get());
}

} // namespace

TEST_CASE("a trace gives the events of its filter, and counts the others") {
    const FileDescriptor file = a_trace(100);
    reading::TraceOptions options;
    options.path = path_of(file);
    options.filter = "dev==mmc && value < 50";
    reading::Trace trace(options);
    unsigned count = 0;
    while (const Event* event = trace.next()) {
        CHECK(event->device() == "mmc@50000");
        CHECK(event->record.value < 50);
        ++count;
    }
    CHECK(count == 25);
    CHECK(trace.left_out() == 75);
}

TEST_CASE("a wrong filter is told of whatever the file is") {
    reading::TraceOptions options;
    options.path = "/nonexistent";
    options.filter = "dev==";
    CHECK_THROWS_WITH(reading::Trace(options), Catch::StartsWith("filter: column 6"));
}

TEST_CASE("a marker is of no CPU: it stays when only one is wanted") {
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    write_info(writer);
    for (unsigned i = 0; i < 4; ++i) {
        abi::Record record = access(i % 2, i / 2, i);
        record.type = i == 2 ? abi::RecordType::marker : abi::RecordType::access;
        writer.append(std::span(&record, 1));
    }
    writer.finish(0, abi::Ending::machine_off);
    reading::TraceOptions options;
    options.path = path_of(file);
    options.cpus = {1};
    reading::Trace trace(options);
    std::string seen;
    while (const Event* event = trace.next()) {
        seen += event->record.type == abi::RecordType::marker ? "m" : "a";
    }
    CHECK(seen == "ama");
}

TEST_CASE("a range of time begins and ends at the nanosecond, whatever the clock's tick is") {
    // At 3 Hz ticks are at 0, 333,333,333, 666,666,666 and 1,000,000,000 ns, at 3 GHz three of them
    // at one time; each in a section of its own.
    const std::uint32_t frequency = GENERATE(3u, 3'000'000'000u);
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    abi::Info info{};
    info.counter_frequency = frequency;
    info.record_size = sizeof(abi::Record);
    writer.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
    for (unsigned i = 0; i < 5; ++i) {
        const abi::Record record = access(0, i, 100 + i);
        writer.append(std::span(&record, 1));
        writer.flush();
    }
    writer.finish(0, abi::Ending::machine_off);
    const auto in = [&file](reading::Moment from, reading::Moment to) {
        reading::TraceOptions options;
        options.path = path_of(file);
        options.from = from;
        options.to = to;
        reading::Trace trace(options);
        std::string values;
        while (const Event* event = trace.next()) {
            values += std::to_string(event->record.value);
        }
        return values;
    };
    const auto by_counter = [&in](std::uint64_t from, std::uint64_t to) {
        return in(reading::Moment(from, true), reading::Moment(to, true));
    };
    if (frequency > 3) {
        CHECK(in(0, 1) == "012");
        CHECK(in(1, 2) == "34");
        return;
    }
    // The first record is at tick 100.
    CHECK(by_counter(33'333'333'333, 33'666'666'666) == "0");
    CHECK(by_counter(33'333'333'334, 33'666'666'667) == "1");
    CHECK(by_counter(33'333'333'332, 33'333'333'333).empty());
    CHECK(by_counter(0, 34'000'000'000) == "01");
    CHECK(by_counter(34'333'333'333, UINT64_MAX) == "34");
    CHECK(in(0, reading::Moment(34'000'000'000, true)) == "01");
    CHECK(in(333'333'333, 666'666'666) == "1");
    CHECK(in(333'333'334, 666'666'667) == "2");
    CHECK(in(333'333'332, 666'666'665) == "1");
    CHECK(in(0, 1) == "0");
    CHECK(in(1, 333'333'333).empty());
    CHECK(in(1'000'000'000, 2'000'000'000) == "34");
}

TEST_CASE("without code addresses no event has one") {
    const FileDescriptor file = a_trace(3);
    reading::TraceOptions options;
    options.path = path_of(file);
    options.no_pc = true;
    reading::Trace trace(options);
    CHECK(trace.no_pc());
    std::uint64_t value = 0;
    while (const Event* event = trace.next()) {
        CHECK(event->record.pc == 0);
        CHECK(event->record.lr == 0);
        CHECK(event->record.sp == 0);
        CHECK(event->record.va == 0);
        CHECK(event->record.value == value++);
    }
    CHECK(value == 3);
    options.filter = "func==secret";
    CHECK_THROWS_WITH(reading::Trace(options), Catch::Contains("--no-pc"));
}

TEST_CASE("what is stripped of an event") {
    SampleEvent sample;
    abi::Record copy;
    reading::strip_code(sample.event, copy);
    CHECK(sample.event.record == &copy);
    CHECK(sample.event.code() == nullptr);
    CHECK(sample.event.caller() == nullptr);
    abi::Record expected = sample.record;
    expected.pc = expected.lr = expected.sp = expected.va = 0;
    CHECK(std::memcmp(&copy, &expected, sizeof copy) == 0); // and nothing else
    CHECK(sample.event.reg() == &sample.reg);
    CHECK(sample.event.task() == &sample.task);
}

TEST_CASE("other records' code addresses are stripped, too") {
    SampleEvent sample;
    abi::Record copy;
    SECTION("where a CPU begins") {
        sample.record.type = abi::RecordType::power;
        sample.event.offset = 0x8000'0000;
        reading::strip_code(sample.event, copy);
        CHECK(abi::physical_address(copy) == 0);
        CHECK(sample.event.offset() == 0);
    }
    SECTION("where the guest executed from a device") {
        sample.record.type = abi::RecordType::fetch;
        reading::strip_code(sample.event, copy);
        CHECK(abi::physical_address(copy) == 0);
    }
    SECTION("the range of a filter by PC") {
        sample.record.type = abi::RecordType::configuration;
        sample.record.pa_low = static_cast<std::uint32_t>(abi::control::Command::filter_pcs);
        sample.record.value = 0xc000'0000;
        sample.event.text = "filter pc 0xc0000000+0x100";
        reading::strip_code(sample.event, copy);
        CHECK(copy.value == 0);
        CHECK(sample.event.text() == "filter pc");
    }
}
