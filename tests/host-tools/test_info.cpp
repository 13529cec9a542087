// The information about a trace, for programs.
#include "records.hpp"
#include "sample_event.hpp"
#include "system/byte_source.hpp"
#include "table/table.hpp"
#include "view/info.hpp"

using namespace mmioscope;
using namespace mmioscope::test;
using Catch::Contains;

namespace {

/// The tables for a trace without devices.
std::vector<table::Table> tables_of(const std::function<void(trace::FileWriter&)>& write) {
    const std::vector<std::byte> bytes = trace_bytes(write);
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    trace::Summary summary;
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        for (const abi::Record& record : block) {
            summary.add(record);
        }
    }
    return view::head_tables(reader, summary, 2'500'000'000);
}

/// The same as JSONL.
std::string head_of(const std::function<void(trace::FileWriter&)>& write) {
    return table::jsonl(tables_of(write));
}

void write_record(trace::FileWriter& writer) {
    const abi::Record record = access(0, 0, 1000);
    writer.append(std::span(&record, 1));
}

/// A command about a region, or about all.
abi::Record change(std::uint64_t time, std::uint64_t what, std::uint64_t region) {
    abi::Record record = access(0, 0, time);
    record.type = abi::RecordType::configuration;
    record.pa_low = static_cast<std::uint32_t>(what);
    record.value = region;
    return record;
}

} // namespace

TEST_CASE("a row of any table is an object, or a line for each property") {
    const std::string_view device = "device";
    const std::string_view trace = "trace";
    const std::vector<table::Table> tables = {
        {{{"about"}, {"name"}, {"address"}, {"path"}, {"size"}, {"", "for people"}},
         {{device, std::string("a,b"), table::Hex{0x1000}, {}, std::uint64_t{7}, device}}},
        {{{"about"}, {"whole"}, {"cut"}, {"board"}},
         {{trace, true, false, std::string("\x1b[31m\"")}}}};
    CHECK(table::jsonl(tables) ==
          "{\"about\":\"device\",\"name\":\"a,b\",\"address\":\"0x1000\",\"size\":7}\n"
          "{\"about\":\"trace\",\"whole\":true,\"cut\":false,\"board\":\"\\u001b[31m\\\"\"}\n");
    CHECK(view::property_csv(tables) == "about,name,property,value\n"
                                        "device,\"a,b\",address,0x1000\n"
                                        "device,\"a,b\",size,7\n"
                                        "trace,,whole,true\n"
                                        "trace,,cut,false\n"
                                        "trace,,board,\"?[31m\"\"\"\n");
}

TEST_CASE("a trace, its texts, its losses and its sections are items") {
    const std::string text = head_of([](trace::FileWriter& writer) {
        write_info(writer);
        writer.text("kernel=zImage\ncpus=2\n");
        write_record(writer);
        const abi::Loss loss{1, 7, 3, 1500};
        writer.values(abi::SectionType::losses, std::span(&loss, 1));
        writer.finish(3, abi::Ending::machine_off);
    });
    CHECK_THAT(
        text, Contains("{\"about\":\"trace\",\"format\":\"") &&
                  Contains(",\"cpus\":2,\"engine\":\"shadow\",\"policy\":\"drop\",") &&
                  Contains(",\"clock_hz\":1000000,\"duration_ns\":2500000000,\"accesses\":1,"
                           "\"records\":1,\"lost\":3,\"ended\":\"the machine went off\","
                           "\"cut\":false,\"damaged\":false,\"whole\":false}\n") &&
                  Contains("\n{\"about\":\"text\",\"name\":\"kernel\",\"value\":\"zImage\"}\n") &&
                  Contains("\n{\"about\":\"loss\",\"cpu\":1,\"first_sequence\":7,\"count\":3}\n") &&
                  Contains("\n{\"about\":\"section\",\"name\":\"records\",\"count\":1}\n"));
    CHECK_THAT(text, !Contains("\"name\":\"cpus\"")); // the machine's number
}

TEST_CASE("the tables for people have the same, a line for each fact, text and loss") {
    const std::string text = table::text(tables_of([](trace::FileWriter& writer) {
        write_info(writer);
        writer.text("kernel=\x1b[31mzImage\ncpus=2\n");
        write_record(writer);
        const abi::Loss loss{1, 7, 3, 1500};
        writer.values(abi::SectionType::losses, std::span(&loss, 1));
        writer.finish(3, abi::Ending::machine_off);
    }));
    CHECK_THAT(text, Catch::StartsWith("format         mmioscope trace ") &&
                         Contains("\nclock          1000000 Hz\n"
                                  "duration       2.500000 s\n"
                                  "accesses       1\n"
                                  "records        1\n"
                                  "lost           3 records\n"
                                  "ended          the machine went off\n"
                                  "sections       info, ") &&
                         Catch::EndsWith("\nkernel         ?[31mzImage\n"
                                         "lost cpu 1     3 from sequence 7\n"));
}

TEST_CASE("properties that a trace does not know are omitted") {
    const std::string text = head_of([](trace::FileWriter& writer) {
        write_info(writer);
        writer.text("not-known=engine, policy, boot id, clock, time, ending\n");
        write_record(writer);
        writer.finish(0, abi::Ending::machine_off);
    });
    for (const char* property :
         {"engine", "policy", "boot_id", "clock_hz", "duration_ns", "ended"}) {
        CHECK_THAT(text, !Contains(fmt::format("\"{}\":", property)));
    }
    CHECK_THAT(text, Contains("\"cpus\":2") && Contains("\"whole\":true"));
}

TEST_CASE("a trace without an end is cut, and its ending is unknown") {
    const std::string text = head_of([](trace::FileWriter& writer) {
        write_info(writer);
        write_record(writer);
        writer.flush();
    });
    CHECK_THAT(text, Contains("\"cut\":true,\"damaged\":false,\"whole\":false}") &&
                         !Contains("\"ended\""));
}

TEST_CASE("a device without interrupts, alias or compatible has no such property") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        abi::RegionEntry traced = region(0x1c09'0000, 0x1000, "/bus/serial@90000");
        traced.flags = abi::region_traced;
        write_regions(writer, {traced, region(0x1c05'0000, 0x200, "/bus/mmc@50000")});
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reader.next();
    registers::TraceDevices devices(registers::Sources{});
    devices.refresh(reader);
    const table::Table table = view::device_table(reader, devices, {});
    CHECK(
        table::text(table) ==
        "device        traced      address      size  interrupts    compatible                    "
        "path\n"
        "serial@90000  yes      0x1c090000     4 KiB  -             -                             "
        "/bus/serial@90000\n"
        "mmc@50000     no       0x1c050000     512 B  -             -                             "
        "/bus/mmc@50000\n");
    CHECK(table::jsonl(std::span(&table, 1)) ==
          "{\"about\":\"device\",\"name\":\"serial@90000\",\"address\":\"0x1c090000\","
          "\"size\":\"0x1000\",\"path\":\"/bus/serial@90000\",\"traced\":\"yes\"}\n"
          "{\"about\":\"device\",\"name\":\"mmc@50000\",\"address\":\"0x1c050000\","
          "\"size\":\"0x200\",\"path\":\"/bus/mmc@50000\",\"traced\":\"no\"}\n");
}

TEST_CASE("a selection has an item for its first state, and for each change that is kept") {
    std::vector<abi::RegionEntry> regions = {region(0x1000, 0x1000, "/uart@1000")};
    regions[0].flags = abi::region_traced;
    trace::Selections selections;
    const unsigned changes = GENERATE(2u, 9u);
    for (unsigned i = 0; i < changes; ++i) {
        selections.add(change(3000 + i, 4 - i % 2, 0), regions);
    }
    const tree::DeviceNames names(regions, {});
    const table::Table table =
        view::selection_table(selections, {&names, 1000, 1'000'000}, regions.size());
    const std::string text = table::jsonl(std::span(&table, 1));
    CHECK_THAT(table::text(table),
               Catch::StartsWith("changed       traced        from s left out before\n") &&
                   Catch::Contains("\nuart@1000     yes\n") &&
                   Catch::Contains("\nuart@1000     no          0.002000\n"));
    CHECK_THAT(text, Catch::StartsWith(
                         "{\"about\":\"selection\",\"name\":\"uart@1000\",\"traced\":\"yes\"}\n"
                         "{\"about\":\"selection\",\"name\":\"uart@1000\",\"traced\":\"no\","
                         "\"from_ns\":2000000}\n"));
    if (changes == 2) {
        CHECK_THAT(text, Catch::EndsWith("\"traced\":\"yes\",\"from_ns\":2001000}\n"));
    } else { // the first 3, and the last one
        CHECK_THAT(text,
                   Catch::EndsWith("\"traced\":\"no\",\"from_ns\":2008000,\"left_out\":5}\n"));
        CHECK_THAT(table::text(table), Catch::EndsWith(" 0.002008       5 changes\n"));
    }
}

TEST_CASE("coverage is given as counts, and accesses without a name by their place") {
    registers::Coverage coverage;
    SampleEvent sample;
    coverage.add(sample.event());
    sample.given.reg = nullptr;
    sample.given.offset = 0x24;
    coverage.add(sample.event());
    const table::Table named = view::coverage_table(coverage);
    CHECK(table::text(named) == "named to the   touched     device   register      field\n"
                                "serial0              2    100.0 %     50.0 %     50.0 %\n"
                                "total                2    100.0 %     50.0 %     50.0 %\n");
    CHECK(view::property_csv(std::span(&named, 1)) ==
          "about,name,property,value\n"
          "coverage,serial0,touched,2\ncoverage,serial0,device,2\n"
          "coverage,serial0,register,1\ncoverage,serial0,field,1\n"
          "coverage,,touched,2\ncoverage,,device,2\ncoverage,,register,1\ncoverage,,field,1\n");
    const table::Table unnamed = view::unnamed_table(coverage);
    CHECK(table::text(unnamed) == "device        offset     reads    writes  lacks\n"
                                  "serial0        0x024         1         0  register\n");
    CHECK(table::jsonl(std::span(&unnamed, 1)) ==
          "{\"about\":\"unnamed\",\"name\":\"serial0\",\"offset\":\"0x24\",\"reads\":1,"
          "\"writes\":0,\"lacks\":\"register\"}\n");
}
