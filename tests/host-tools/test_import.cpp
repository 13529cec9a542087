// Logs of other tools become traces; the log is beside the expected result.
#include "file/trace_reader.hpp"
#include "import/mmiotrace.hpp"
#include "import/qemu_log.hpp"
#include "records.hpp"
#include "system/error.hpp"

using namespace mmioscope;
using namespace mmioscope::importing;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// The trace of a log, read back.
struct Imported {
    template <typename Import>
    Imported(std::string_view log, Import import)
        : file(memory_file("trace", 0)), report(import(log, file.get())),
          bytes(test::contents(file.get())), source(bytes),
          reader(source, [](const std::string& text) { FAIL(text); }) {
        for (auto block = reader.next(); !block.empty(); block = reader.next()) {
            records.insert(records.end(), block.begin(), block.end());
        }
    }
    FileDescriptor file;
    Report report;
    std::vector<std::byte> bytes;
    MemorySource source;
    trace::TraceReader reader;
    std::vector<abi::Record> records;
};

Report from_mmiotrace(std::string_view log, int fd) {
    MemorySource first(bytes_of(log));
    MemorySource second(bytes_of(log));
    return import_mmiotrace(first, second, fd);
}

Report from_qemu(std::string_view log, int fd) {
    MemorySource source(bytes_of(log));
    return import_qemu_log(source, fd);
}

} // namespace

TEST_CASE("an mmiotrace log of a PCI device becomes a trace") {
    const Imported trace("VERSION 20070824\n"
                         "PCIDEV 0100 10de0042 b fd000000 c000000c 0 0 e801 0 0 "
                         "1000000 10000000 0 0 80 0 0 nvidia\n"
                         "# a comment\n"
                         "MAP 1.5 1 0xfd000000 0xf0800000 0x1000 0x0 0\n"
                         "MAP 1.500001 2 0x90000000 0xf0900000 0x2000 0x0 0\n"
                         "R 4 2.000001 1 0xfd000010 0x12345678 0xf8c0 0\n"
                         "W 8 2.000002 2 0x90000008 0xffffffffffffffff 0x0 0\n"
                         "UNKNOWN 2.000003 2 0x90000010 0f,18,05 0x1234 0\n"
                         "MARK 0.000000 Lost 7 events.\n"
                         "MARK 2.5 X is up\n"
                         "UNMAP 3.0 1 0x0 0\n"
                         "W 1 3.000000 1 0xfd000020 0x1ff 0x0 0\n",
                         from_mmiotrace);
    CHECK((trace.report.accesses == 4 && trace.report.lost == 7));
    CHECK(trace.report.malformed.count == 0);
    REQUIRE(trace.records.size() == 6); // with a gap and a marker
    const tree::DeviceNames& names = trace.reader.names();
    const abi::Record& read = trace.records[0];
    CHECK((!abi::is_write(read) && abi::access_size(read) == 4 && read.value == 0x1234'5678));
    CHECK(names[read.device] == "01:00.0,nvidia");
    CHECK((read.time == 2'000'001'000 && read.va == 0xf080'0010 && read.pc == 0xf8c0));
    CHECK(trace::in_kernel(read)); // otherwise its code would have no name
    const abi::Record& write = trace.records[1];
    CHECK((abi::is_write(write) && abi::access_size(write) == 8 && write.value == ~0ull));
    CHECK(names[write.device] == "map@90000000");
    CHECK((trace.records[2].flags & abi::flag_value_unknown) != 0);
    const abi::Record& gap = trace.records[3];
    CHECK((gap.type == abi::RecordType::gap && gap.value == 7 && gap.time == 2'000'003'000));
    CHECK(trace.records[4].type == abi::RecordType::marker);
    CHECK(trace.records[4].cpu_sequence == 10);
    CHECK((trace.records[5].value == 0xff && trace.records[5].va == 0));
    CHECK(names[4] == "-");
    CHECK(trace.reader.text().at("imported-from") == "mmiotrace");
    CHECK((!trace.reader.engine() && !trace.reader.policy() && !trace.reader.ending()));
    CHECK((trace.reader.boot_id().empty() && !trace.reader.knows("cpus")));
    CHECK(
        (trace.reader.knows("time") && trace.reader.knows("value") && trace.reader.knows("mode")));
    CHECK((trace.reader.sound() && trace.reader.end()->lost == 7));
}

TEST_CASE("incomplete lines of mmiotrace are reported by number, and only they are lost") {
    const Imported trace("VERSION 20070824\n"
                         "R 3 1.0 1 0x1000 0x1 0x0 0\n" // no size
                         "R 4 1. 1 0x1000 0x1 0x0 0\n"  // no time
                         "R 4 1.0 1 0x1000\n"           // cut off
                         "MAP 1.0 1 0xffffffffffffffff 0x0 0x10 0x0 0\n"
                         "hello\n"
                         "R 4 1.0 1 0x1000 0x1 0x0 0\n"
                         "R 4 0.9 1 0x1000 0x1\n", // goes back, and has no PC: accepted
                         from_mmiotrace);
    CHECK(trace.report.accesses == 2);
    CHECK(trace.report.malformed.count == 5);
    CHECK(trace.report.malformed.first == std::vector<std::string>{"line 2: an incomplete access",
                                                                   "line 3: an incomplete access",
                                                                   "line 4: an incomplete access"});
    CHECK(trace.report.notes ==
          std::vector<std::string>{"1 lines are earlier than the previous one, and got its time"});
    CHECK_THROWS_AS(Imported("nothing of it\n", from_mmiotrace), Error);
    CHECK_THROWS_AS(Imported("", from_mmiotrace), Error);
}

TEST_CASE("a count of lost events beyond 32 bits is an invalid line") {
    const Imported trace("VERSION 20070824\n"
                         "R 4 1.0 1 0x1000 0x1 0x0 0\n"
                         "MARK 0.0 Lost 4294967295 events.\n"
                         "MARK 0.0 Lost 4294967296 events.\n"
                         "MARK 0.0 Lost 18446744073709551616 events.\n"
                         "MARK 0.0 Lost things: 3 events\n",
                         from_mmiotrace);
    CHECK(trace.report.lost == 4294967295);
    CHECK(trace.reader.end()->lost == 4294967295);
    CHECK(trace.report.malformed.first ==
          std::vector<std::string>{"line 4: an impossible number of lost events",
                                   "line 5: an impossible number of lost events"});
}

TEST_CASE("regions of an import do not overlap, and adjacent mappings are merged") {
    RegionList list;
    list.add(0x1000, 0x1000, "/a");
    list.add(0x1800, 0x1000, "/overlaps");
    list.add(0x800, 0x801, "/overlaps, too");
    list.add_mapping(0x1200, 0x100); // inside of a
    list.add_mapping(0x4000, 0x1000);
    list.add_mapping(0x5000, 0x1000);
    list.add_mapping(0x0, 0x4000); // up to the start of a
    list.finish();
    REQUIRE(list.regions().size() == 3);
    CHECK((list.find(0xfff) == 1 && list.find(0x1000) == 0 && list.find(0x5fff) == 2));
    CHECK((list.find(0x2000) == 2 && list.find(0x6000) == abi::no_device));
    CHECK(std::string(list.regions()[2].path) == "/map@2000");
}

TEST_CASE("the list of unknown properties may have explanations") {
    const trace::NotKnown list(
        "engine, boot id,time (numbers of lines), pc ; of others value, size");
    for (const char* name : {"engine", "boot id", "time", "pc"}) {
        CHECK(list.has(name));
    }
    for (const char* name :
         {"boot", "id", "numbers of lines", "value", "size", "of others value"}) {
        CHECK_FALSE(list.has(name));
    }
    CHECK_FALSE(trace::NotKnown("").has("engine"));
    CHECK_FALSE(trace::NotKnown(" ,(,").has("engine"));
}

TEST_CASE("mappings over mappings and regions become the free ranges between the regions") {
    RegionList list;
    constexpr std::uint64_t regions = 4'000;
    for (std::uint64_t i = 0; i < regions; ++i) {
        list.add(0x1000 * (i + 1), 0x800, "/r");
    }
    constexpr std::uint64_t mappings =
        (1 << 20) - 1; // a search region by region would take minutes
    for (std::uint64_t i = 0; i < mappings; ++i) {
        list.add_mapping(i, (0x1000 * (regions + 1)) - i);
    }
    list.add_mapping(0x1000 * (regions + 1) + 0x100, 0x100);
    list.finish();
    REQUIRE(list.regions().size() == 4'096);
    CHECK(list.left_out() == regions + 2 - 96);
    CHECK(std::string(list.regions()[regions].path) == "/map@0");
    CHECK(list.regions()[regions].size == 0x1000);
    CHECK(list.regions()[regions + 1].base == 0x1800);
    CHECK(list.regions()[regions + 1].size == 0x800);
}

TEST_CASE("QEMU's log becomes a trace, in the order of its lines") {
    const Imported trace(
        "memory_region_ops_write cpu 1 mr 0x55 addr 0x1c090000 value 0xffffff41 size 1 name "
        "'pl011'\n"
        "Invalid read at addr 0x1C0F0000, size 4, region '(null)', reason: rejected\n"
        "memory_region_ops_read cpu 0 mr 0x55 addr 0x1c091018 value 0x90 size 2 name 'pl011'\n"
        "memory_region_ops_read cpu -1 mr 0x55 addr 0x1c091018 value 0x90 size 2 name 'pl011'\n"
        "memory_region_ops_read cpu 0 mr\n",
        from_qemu);
    CHECK(trace.report.accesses == (trace.records.size()));
    CHECK(trace.report.malformed.first == std::vector<std::string>{"line 5: an incomplete access"});
    REQUIRE(trace.records.size() >= 2);
    const abi::Record& write = trace.records.front();
    CHECK((write.cpu == 1 && write.value == 0x41 && abi::is_write(write) && write.time == 1));
    CHECK(trace.reader.names()[write.device] == "pl011@1c090000");
    const abi::Record& read = trace.records.back();
    CHECK((read.cpu == 0 && read.time == 3 && read.device == write.device && read.value == 0x90));
    CHECK(trace.reader.info()->counter_frequency == 0);
    CHECK_THROWS_AS(Imported("nothing of it\n", from_qemu), Error);
}
