// A trace read with a filter, and without code addresses.
#include "abi/control.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "system/error.hpp"
#include "trace_text.hpp"

#include <cstring>
#include <sstream>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// A trace in memory with `count` accesses to two devices in turn.
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

/// Selects the events of `file` that match `filter`; reports nothing.
reading::TraceOptions filtered(const FileDescriptor& file, const std::string& filter) {
    reading::TraceOptions options;
    options.path = path_of(file);
    options.filter = filter;
    options.report = [](const std::string&) {};
    return options;
}

/// A read of FR about which everything is known.
abi::Record an_access() {
    abi::Record record = access(0, 0, 1'000);
    record.pc = 0xc081'2344;
    record.lr = 0xc090'0010;
    record.sp = 0xc100'1f00;
    record.va = 0xf000'1018;
    record.pa_low = 0x1c09'0018;
    record.task = 0xc123'4560;
    return record;
}

/// Calls `check` with the event of a trace that has `record` and everything to be known about it.
void check_event(const abi::Record& record, bool no_pc,
                 const std::function<void(const Event&)>& check) {
    std::istringstream in("device serial@90000 0x1c090000 0x1000 arm,pl011\n"
                          "code 0xc0812000 0x1000 pl011_tx_chars\n"
                          "code 0xc0900000 0x1000 uart_start\n"
                          "task 0xc1234560 57 kworker/0:1\n");
    TraceText text = read_trace_text(in);
    text.records = {record};
    const FileDescriptor file = memory_file("trace", 0);
    write_trace(text, file.get());
    reading::TraceOptions options;
    options.path = path_of(file);
    options.no_pc = no_pc;
    reading::Trace trace(options);
    const Event* const event = trace.next();
    REQUIRE(event != nullptr);
    check(*event);
}

} // namespace

TEST_CASE("a trace gives the events of its filter, and no others") {
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
}

TEST_CASE("a filter uses the devices as described before a record") {
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    write_info(writer);
    abi::Record record = access(0, 0, 0);
    record.device = 0;
    record.pa_low = 0x1c09'0018;
    for (const auto& [base, path] :
         {std::pair(0x1c09'0000u, "/bus/uart@90000"), std::pair(0x1c09'0010u, "/bus/mmc@90010")}) {
        write_regions(writer, {region(base, 0x1000, path)});
        writer.append(std::span(&record, 1));
        writer.flush(); // ends the section
        ++record.cpu_sequence, ++record.time;
    }
    writer.finish(0, abi::Ending::machine_off);
    const auto [filter, number] = GENERATE(Catch::Generators::table<const char*, std::uint64_t>(
        {{"offset==0x18", 1}, {"offset==8", 2}, {"dev==uart", 1}, {"dev==mmc", 2}}));
    CAPTURE(filter);
    reading::Trace trace(filtered(file, filter));
    const Event* const event = trace.next();
    REQUIRE(event != nullptr);
    CHECK(event->number == number);
    CHECK(trace.next() == nullptr);
}

TEST_CASE("a filter that matches nothing or everything needs no look at a record") {
    const FileDescriptor file = a_trace(100);
    const auto [filter, events] = GENERATE(Catch::Generators::table<const char*, unsigned>(
        {{"dev =~ nothing", 0}, {"!(dev =~ nothing)", 100}, {"dev =~ nothing || dev =~ no", 0}}));
    CAPTURE(filter);
    reading::Trace trace(filtered(file, filter));
    unsigned read = 0;
    while (trace.next() != nullptr) {
        ++read;
    }
    CHECK(read == events);
}

TEST_CASE("a wrong filter is refused whatever the file is") {
    reading::TraceOptions options;
    options.path = "/nonexistent";
    options.filter = "dev==";
    CHECK_THROWS_WITH(reading::Trace(options), Catch::StartsWith("filter: column 6"));
}

TEST_CASE("a marker belongs to no CPU and stays when only one CPU is wanted") {
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
        CHECK(event->nanoseconds == event->record.time * 1000); // since the first record
    }
    CHECK(seen == "ama");
}

TEST_CASE("a range of time begins and ends at the exact nanosecond, whatever the clock's tick") {
    // At 3 Hz ticks are at 0, 333,333,333, 666,666,666 and 1,000,000,000 ns, at 3 GHz three of them
    // have the same time; each is in its own section.
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

TEST_CASE("without code addresses no event has code addresses") {
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

TEST_CASE("stripping an event removes its code addresses, and nothing else") {
    const abi::Record record = an_access();
    check_event(record, false, [](const Event& event) {
        CHECK(event.code() != nullptr);
        CHECK(event.caller() != nullptr);
    });
    check_event(record, true, [&record](const Event& event) {
        CHECK(event.code() == nullptr);
        CHECK(event.caller() == nullptr);
        abi::Record expected = record;
        expected.pc = expected.lr = expected.sp = expected.va = 0;
        CHECK(std::memcmp(&event.record, &expected, sizeof expected) == 0); // but nothing else
        REQUIRE(event.reg() != nullptr);
        CHECK(event.reg()->name == "FR");
        REQUIRE(event.task() != nullptr);
        CHECK(event.task()->pid == 57);
    });
}

TEST_CASE("code addresses in other records are stripped, too") {
    abi::Record record = an_access();
    SECTION("where a CPU starts") {
        record.type = abi::RecordType::power;
        record.device = abi::no_device;
        abi::set_physical_address(record, 0x8000'0000);
        check_event(record, false,
                    [](const Event& event) { CHECK(event.offset() == 0x8000'0000); });
        check_event(record, true, [](const Event& event) {
            CHECK(abi::physical_address(event.record) == 0);
            CHECK(event.offset() == 0);
        });
    }
    SECTION("where the guest executed from a device") {
        record.type = abi::RecordType::fetch;
        check_event(record, false, [](const Event& event) { CHECK(event.offset() == 0x18); });
        check_event(record, true, [](const Event& event) {
            CHECK(abi::physical_address(event.record) == 0);
            CHECK(event.offset() == 0);
        });
    }
    SECTION("the range of a filter by PC") {
        record.type = abi::RecordType::configuration;
        record.pa_low = static_cast<std::uint32_t>(abi::control::Command::filter_pcs);
        record.value = 0x100'c000'0000;
        check_event(record, false, [](const Event& event) {
            CHECK(event.record.value == 0x100'c000'0000);
            CHECK(event.text() == "filter pc 0xc0000000+0x100");
        });
        check_event(record, true, [](const Event& event) {
            CHECK(event.record.value == 0);
            CHECK(event.text() == "filter pc");
        });
    }
}
