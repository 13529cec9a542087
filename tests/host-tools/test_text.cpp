// Names, lines, loops, tables and verdicts.
#include "allocations.hpp"
#include "analysis/merging.hpp"
#include "cpu_time.hpp"
#include "given_event.hpp"
#include "reading/naming.hpp"
#include "records.hpp"
#include "records/record_text.hpp"
#include "records/verdict.hpp"
#include "run/process.hpp"
#include "table/table.hpp"
#include "trees.hpp"
#include "view/line.hpp"

#include <fmt/format.h>

#include <string>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

const std::vector<abi::RegionEntry>& regions() {
    static const std::vector<abi::RegionEntry> all = {
        region(0x9000, 0x1000, "/bus/serial@9000"), region(0xa000, 0x1000, "/bus/serial@a000"),
        region(0x1'0000, 0x100, "/one/timer@0"),    region(0x2'0000, 0x100, "/two/timer@0"),
        region(0x3'0000, 0x100, "~@1/serial@9000"), region(0x4'0000, 0x100, "/bus/gic@4")};
    return all;
}

tree::DeviceNames names() {
    return {regions(), small_tree()};
}

std::string line(const abi::Record& record) {
    const tree::DeviceNames all = names();
    const std::string words = reading::text_of(record);
    const Event event =
        given_event(record, {.nanoseconds = (record.time - 1'000'000) * 1000,
                             .device = all[record.device],
                             .offset = abi::physical_address(record) - all.base(record.device),
                             .text = words});
    view::LineStyle style;
    style.frequency = 1'000'000;
    style.device_width = all.width();
    TextBuffer text;
    view::LineFormat(style).append(text, event);
    return std::string(text.view());
}

abi::Record write2() {
    abi::Record record = access(1, 5, 3'500'001);
    record.access = abi::encode_access(true, 1);
    record.pa_low = 0xa018;
    record.device = 1;
    record.value = 0x90;
    return record;
}

/// The result for records at these places, 1 tick apart, in windows of 100 ticks. A place is a PC,
/// and by its low 5 bits a register and by bit 5 a value: 'a' and 'A' differ in both.
std::vector<std::string> runs(const std::string& places) {
    class Log final : public reading::Consumer {
    public:
        void add(const Event& event) override { add(event.record, 1); }
        void add_derived(const DerivedEvent& derived) override {
            CHECK(derived.kind == "repeat");
            CHECK(derived.last_nanoseconds == derived.last.time);
            add(derived.last, derived.count);
        }
        std::vector<std::string> all;

    private:
        void add(const abi::Record& record, std::uint64_t count) {
            all.push_back(fmt::format("{}{}", static_cast<char>(record.pc), count));
        }
    } log;
    analysis::Collapse collapse(100, log);
    std::uint32_t time = 0;
    for (const char place : places) {
        abi::Record record = access(0, 0, time++);
        record.pc = static_cast<std::uint32_t>(place);
        record.value = record.pc >> 5;
        record.pa_low = (record.pc & 0x1f) * 4;
        record.type = place == '!' ? abi::RecordType::gap : abi::RecordType::access;
        collapse.add(given_event(record, {.nanoseconds = record.time}));
    }
    collapse.finish();
    return log.all;
}

} // namespace

TEST_CASE("devices are named by alias, or by as much of their path as is needed") {
    const tree::DeviceNames all = names();
    CHECK(all[0] == "serial0");
    CHECK(all[1] == "serial@a000");
    CHECK(all[2] == "one/timer@0");
    CHECK(all[3] == "two/timer@0");
    CHECK(all[abi::no_device] == "-");
    CHECK(all[100] == "-");
    CHECK(all.base(1) == 0xa000);
    CHECK(all.base(abi::no_device) == 0);
}

TEST_CASE("a region without a path has no name, and the other regions have theirs") {
    const std::vector<abi::RegionEntry> regions = {region(0x1c09'0000, 0x1000, ""),
                                                   region(0x1c05'0000, 0x1000, "/mmc@50000")};
    const tree::DeviceNames names(regions, {});
    CHECK(names[0] == "-");
    CHECK(names[1] == "mmc@50000");
}

TEST_CASE("a device's name is plain text, whatever its path") {
    const std::vector<abi::RegionEntry> regions = {region(0x1c09'0000, 0x1000, "/a\x1b[2J\nb")};
    CHECK(tree::DeviceNames(regions, {})[0] == "a?[2J?b");
}

TEST_CASE("the second reg entry of a node has a number") {
    std::vector<abi::RegionEntry> two = {region(0x1000, 0x100, "/gic@1"),
                                         region(0x2000, 0x100, "/gic@1")};
    two[1].reg_index = 1;
    const tree::DeviceNames all(two, {});
    CHECK(all[0] == "gic@1");
    CHECK(all[1] == "gic@1[1]");
}

TEST_CASE("paths without a last name have names, too") {
    const tree::DeviceNames all(
        std::vector{region(0, 1, ""), region(2, 1, "/"), region(4, 1, "/a/")}, {});
    CHECK(all[0] == "-");
    CHECK(all[1].empty());
    CHECK(all[2] == "a/");
}

TEST_CASE("devices of a trace are named fast, however similar they are") {
    std::vector<abi::RegionEntry> alike;
    for (std::uint32_t i = 0; i < 1024; ++i) {
        std::string path = fmt::format("{:04}", i);
        while (path.size() + 2 < sizeof alike[0].path) {
            path += "/a";
        }
        alike.push_back(region(i, 1, path));
    }
    std::string last;
    CHECK(cpu_seconds([&] { last = tree::DeviceNames(alike, {})[1023]; }) < 3);
    CHECK_THAT(last, Catch::StartsWith("1023/a/a/a"));
}

TEST_CASE("names of devices are plain text") {
    const tree::DeviceNames all(std::vector{region(0, 1, "/\x1b[31mX\a"), region(2, 1, "/b")}, {});
    CHECK(all[0] == "?[31mX?");
    CHECK(all[1] == "b");
}

TEST_CASE("an access is one line") {
    CHECK(line(write2()) == "    2.500001 cpu1 W2 serial@a000     +0x018 0x0090     pc 0xc0000005");
    abi::Record record = write2();
    record.mode = 0x10 | abi::mode_thumb;
    CHECK_THAT(line(record), Catch::EndsWith("pc 0xc0000005 usr thumb"));
    record.mode = 0; // from an import: unknown
    CHECK_THAT(line(record), Catch::EndsWith("pc 0xc0000005"));
    record.flags = abi::flag_value_unknown;
    CHECK_THAT(line(record), Catch::Contains("+0x018 ?"));
    record.device = abi::no_device;
    CHECK_THAT(line(record), Catch::Contains("-               +0xa018"));
}

TEST_CASE("other types of records are described in words") {
    abi::Record record = write2();
    record.type = abi::RecordType::gap;
    record.value = 17;
    CHECK_THAT(line(record), Catch::EndsWith("17 records lost, from number 5 on"));
    record.type = abi::RecordType::own;
    CHECK_THAT(line(record), Catch::EndsWith("by the hypervisor"));
    record.type = abi::RecordType::fault;
    record.value = 1;
    CHECK_THAT(line(record), Catch::Contains("no access: no device has this address"));
    record.value = abi::fault_value(abi::FaultReason::no_progress);
    CHECK_THAT(line(record),
               Catch::Contains(" no progress: the same access traps again and again, pc"));
    record.value = abi::fault_value(abi::FaultReason::lock_not_given_back, 3);
    CHECK_THAT(line(record), Catch::Contains(" no access yet: cpu3 holds the device's lock, pc"));
    record.value = abi::fault_value(abi::FaultReason::table_walk_abort);
    CHECK_THAT(line(record),
               Catch::Contains(" no access: the hypervisor's translation tables met "));
    record.value = abi::uart_fault_value(abi::FaultReason::uart_kept, 3);
    CHECK_THAT(line(record), Catch::Contains(" the guest switches off the hypervisor's UART: it "
                                             "stays on, pc"));
    CHECK(trace::fault_text(record.value, "/soc/serial@3") ==
          "the guest switches off /soc/serial@3, the hypervisor's UART: it stays on");
    record.value = abi::uart_fault_value(abi::FaultReason::uart_stopped, 3);
    CHECK_THAT(line(record), Catch::Contains(" the guest switches off the hypervisor's UART, pc"));
    record.value = abi::fault_value(abi::FaultReason::no_breakpoints);
    CHECK_THAT(line(record),
               Catch::Contains(" no access: it needs a breakpoint, and the CPU has none"));
    record.value = 200;
    CHECK_THAT(line(record), Catch::Contains("no access: unknown reason"));
    record.type = static_cast<abi::RecordType>(200);
    CHECK_THAT(line(record), Catch::EndsWith("(unknown)"));
}

TEST_CASE("records of the same place within a window of time are one line") {
    using Runs = std::vector<std::string>;
    CHECK(runs("") == Runs{});
    CHECK(runs("abc") == Runs{"a1", "b1", "c1"});
    CHECK(runs("aaaa") == Runs{"a4"});
    CHECK(runs("aaabaabcaab") == Runs{"a7", "b3", "c1"});
    CHECK(runs("aAaab") == Runs{"a1", "A1", "a2", "b1"}); // another one of the same register
    CHECK(runs("aba!ab!!") == Runs{"a2", "b1", "!1", "a1", "b1", "!1", "!1"});
    CHECK(runs(std::string(101, 'a') + "b") == Runs{"a101", "b1"});
    CHECK(runs(std::string(150, 'a')) == Runs{"a101", "a49"});
    std::string many; // more places than a window takes
    for (char place = '0'; place <= 'z'; ++place) {
        many += place;
    }
    CHECK(runs(many + many).size() == 2 * many.size());
}

TEST_CASE("the verdict says what was recorded and what is missing") {
    trace::Summary summary;
    const abi::Record record = write2();
    summary.add(record);
    CHECK(trace::verdict(summary, {}, "", {}) == "complete: 1 events, 0 lost");
    const std::vector<abi::Loss> losses = {{0, 7, 3, 0}, {1, 9, 1, 0}};
    CHECK(trace::verdict(summary, losses, "", {}) ==
          "incomplete: 1 events, 4 lost (cpu 0: 3 from sequence 7, cpu 1: 1 from sequence 9)");
    const std::vector<abi::Loss> many = {{0, 0, UINT64_MAX, 0}, {0, 9, 1, 0}};
    CHECK_THAT(trace::verdict(summary, many, "", {}),
               Catch::StartsWith("incomplete: 1 events, 18446744073709551615 lost"));
    CHECK(trace::verdict(summary, {}, "", abi::Ending::machine_off) ==
          "complete: 1 events, 0 lost");
    CHECK(trace::verdict(summary, {}, "the trace is damaged", abi::Ending::machine_off) ==
          "incomplete: 1 events, 0 lost; the trace is damaged");
    CHECK(trace::verdict(summary, {}, "", abi::Ending::interrupted) ==
          "complete: 1 events, 0 lost; the recording was cut: interrupted");
    CHECK(trace::verdict(summary, {}, "the trace is damaged", abi::Ending::time_limit) ==
          "incomplete: 1 events, 0 lost; the trace is damaged; the recording was cut: time limit "
          "reached");
}

TEST_CASE("the table counts reads and writes of each device") {
    trace::Summary summary;
    std::vector<abi::Record> records = {write2(), write2(), write2()};
    records[1].cpu = 0;
    records[2].access = abi::encode_access(false, 1);
    for (const abi::Record& each : records) {
        summary.add(each);
    }
    const tree::DeviceNames all = names();
    const std::string table =
        table::text(trace::device_table(summary, {&all, 1'000'000, 1'000'000}));
    CHECK_THAT(table, Catch::Contains("serial@a000") && Catch::Contains(" 0,1 ") &&
                          Catch::Contains("2.500001"));
}

TEST_CASE("the last lines of a log") {
    CHECK(run::last_lines("", 2).empty());
    CHECK(run::last_lines("a", 2) == "a\n");
    CHECK(run::last_lines("a\r\nb\r\nc\r\n", 2) == "b\nc\n");
    CHECK(run::last_lines("a\n\nc", 2) == "\nc\n");
    CHECK(run::last_lines("a\nb\n", 10) == "a\nb\n");
}

TEST_CASE("a stop line is found when it is complete, and only at the start of a line") {
    const FileDescriptor file = memory_file("log", 0);
    run::LogFile log(file.get());
    const auto write = [&](const std::string& text) {
        REQUIRE(::write(file.get(), text.data(), text.size()) > 0);
    };
    write("say stop: no\nsto");
    CHECK(!log.from_line("stop: "));
    write("p: because");
    CHECK(!log.from_line("stop: "));
    write("\nr0 = 1\n");
    CHECK(log.from_line("stop: ") == "stop: because\nr0 = 1\n");
    CHECK(!log.report_has("end"));
    write("end of it\n");
    CHECK(log.report_has("end"));
}

TEST_CASE("a log of any length takes little memory") {
    constexpr off_t hole = 1 << 30;
    const FileDescriptor file = memory_file("log", hole);
    const Allocations taken;
    run::LogFile log(file.get());
    CHECK(!log.from_line("stop: "));
    const std::string end = "\nstop: because\n";
    REQUIRE(::pwrite(file.get(), end.data(), end.size(), hole) > 0);
    CHECK(log.from_line("stop: ") == "stop: because\n");
    CHECK(run::log_has(file.get(), "because"));
    CHECK(run::last_lines(file.get(), 1) == "stop: because\n");
    REQUIRE(::ftruncate(file.get(), 2 * hole) == 0); // a report without an end
    CHECK(log.from_line("stop: ")->size() < 2 << 20);
    CHECK(taken.bytes() < 64 << 20);
}

TEST_CASE("a text in a log is found at any position") {
    for (const std::size_t at : {0u, 1u, 65'530u, 65'536u, 131'070u}) {
        const std::string text = std::string(at, 'x') + "said so" + std::string(70'000, 'y');
        const FileDescriptor file = memory_file("log", 0);
        REQUIRE(::write(file.get(), text.data(), text.size()) > 0);
        INFO(at);
        CHECK(run::log_has(file.get(), "said so"));
        CHECK(!run::log_has(file.get(), "said no"));
    }
}
