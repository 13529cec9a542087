// Tasks from the hypervisor's own records: names from there on, in the trace, in lines, in exports.
#include "abi/task_name.hpp"
#include "catch_2_or_3.hpp"
#include "cpu_time.hpp"
#include "file/trace_reader.hpp"
#include "reading/naming.hpp"
#include "reading/strip_code.hpp"
#include "records.hpp"
#include "records/task_table.hpp"
#include "system/byte_source.hpp"
#include "view/printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr std::uint32_t task = 0xc123'4000;

abi::Record named(std::uint32_t who, std::uint64_t time, std::uint32_t pid, std::uint32_t tgid,
                  const std::string& comm) {
    abi::Record record{};
    record.type = abi::RecordType::task;
    record.device = abi::no_device;
    record.task = who;
    record.time = time;
    abi::TaskName name{pid, tgid, {}};
    comm.copy(name.comm, sizeof name.comm);
    abi::set_task_name(record, name);
    return record;
}

abi::Record by(std::uint32_t who, std::uint64_t time, std::uint8_t mode = 0x13) {
    abi::Record record = access(0, 0, time);
    record.task = who;
    record.mode = mode;
    return record;
}

/// "comm:pid:tgid", or "-".
std::string who(const trace::TaskTable& table, const abi::Record& record) {
    const std::optional<Task> found = table.of(record);
    return !found ? "-" : fmt::format("{}:{}:{}", found->comm, found->pid, found->tgid);
}

std::vector<std::byte> section(std::uint64_t time, std::uint32_t key, trace::TaskKey kind,
                               std::uint32_t pid) {
    trace::TaskEntry entry{time, key, kind, pid, pid, "recorder"};
    std::vector<std::byte> bytes(sizeof entry);
    std::memcpy(bytes.data(), &entry, sizeof entry);
    return bytes;
}

} // namespace

TEST_CASE("a task's name ends at its first zero, and is plain", "[tasks]") {
    for (std::size_t length = 0; length <= 16; ++length) {
        std::string comm = std::string("a\x01z\x7f/\x80\xff :bcdefghi", 17).substr(0, length);
        std::string plain = comm;
        for (char& c : plain) {
            c = c >= ' ' && c <= '~' ? c : '?';
        }
        comm.resize(std::min<std::size_t>(length + 1, 16)); // a zero
        comm.resize(16, 'x');                               // what is behind it is not of the name
        trace::TaskTable table;
        table.add(named(task, 1, 7, 8, comm));
        CAPTURE(length);
        CHECK(who(table, by(task, 2)) == plain + ":7:8");
        const std::uint32_t version = table.version();
        comm.replace(std::min<std::size_t>(length + 1, 16), 16, 16, 'y');
        table.add(named(task, 3, 7, 8, comm));
        CHECK(table.version() == version); // the same name
    }
}

TEST_CASE("a record with a task's name keeps the bytes as they are", "[tasks]") {
    const abi::TaskName name =
        abi::task_name(named(task, 1, 0x0123'4567, 0x89ab'cdef, "0123456789abcdef"));
    CHECK(name.pid == 0x0123'4567);
    CHECK(name.tgid == 0x89ab'cdef);
    CHECK(std::string(name.comm, 16) == "0123456789abcdef");
}

TEST_CASE("a task has the name from the last record before", "[tasks]") {
    trace::TaskTable table;
    CHECK(who(table, by(task, 5)) == "-");
    table.add(named(task, 10, 7, 5, "sh"));
    table.add(named(task, 20, 7, 5, "sh"));
    table.add(named(task + 0x1000, 25, 9, 9, "0123456789abcdef"));
    table.add(named(task, 30, 8, 8, "of\x1b[m another"));
    CHECK(who(table, by(task, 9)) == "-");
    CHECK(who(table, by(task, 10)) == "sh:7:5");
    CHECK(who(table, by(task, 29)) == "sh:7:5");
    CHECK(who(table, by(task, 30)) == "of?[m another:8:8");
    CHECK(who(table, by(task + 0x1000, 99)) == "0123456789abcdef:9:9");
    CHECK(who(table, by(task, 99, 0x10)) == "-"); // in User mode it is the stack
    CHECK(who(table, by(task + 1, 99)) == "-");
    table.add(named(task, 15, 1, 1, "late")); // out of order: counts as the time of the last one
    CHECK(who(table, by(task, 29)) == "sh:7:5");
    CHECK(who(table, by(task, 30)) == "late:1:1");
}

TEST_CASE("a name from the hypervisor takes precedence over one from the recorder", "[tasks]") {
    trace::TaskTable table;
    table.add(section(0, task, trace::TaskKey::task, 3));
    table.add(section(0, task + 0x1000, trace::TaskKey::task, 4));
    table.add(section(0, 0xc200'0000, trace::TaskKey::stack, 5));
    table.add(named(task, 10, 7, 5, "sh"));
    table.add(section(20, task, trace::TaskKey::task, 6));
    CHECK(who(table, by(task, 5)) == "recorder:3:3"); // before its own record
    CHECK(who(table, by(task, 30)) == "sh:7:5");
    CHECK(who(table, by(task + 0x1000, 30)) == "recorder:4:4");
    CHECK(who(table, by(0xc200'0ff8, 30, 0x10)) == "recorder:5:5");
}

TEST_CASE("an entry that goes back in time holds from the last one's time on", "[tasks]") {
    trace::TaskTable table;
    table.add(section(20, task, trace::TaskKey::task, 3));
    table.add(section(10, task, trace::TaskKey::task, 4));
    CHECK(who(table, by(task, 15)) == "-");
    CHECK(who(table, by(task, 20)) == "recorder:4:4");
    constexpr std::uint32_t many = 100'000;
    std::vector<trace::TaskEntry> falling;
    for (std::uint32_t i = 0; i < many; ++i) {
        falling.push_back({many - i, task, trace::TaskKey::task, i, i, "recorder"});
    }
    CHECK(cpu_seconds([&] { table.add(std::as_bytes(std::span(falling))); }) < 3);
}

TEST_CASE("knowledge of tasks takes bounded memory", "[tasks]") {
    constexpr std::uint32_t many = 400'000;
    constexpr std::size_t most = 8 << 20;
    trace::TaskTable table;
    SECTION("of ever new tasks, those reported last are kept") {
        for (std::uint32_t i = 0; i < many; ++i) {
            table.add(section(i, 16 * i, trace::TaskKey::task, i));
            table.pass_records();
            if (i % 16 == 0) {
                REQUIRE(who(table, by(16 * i, i)) == fmt::format("recorder:{}:{}", i, i));
            }
            if (i % (trace::TaskTable::most_keys / 2) == 0) {
                table.add(section(i, 8, trace::TaskKey::task, 1)); // repeats what is known
            }
        }
        CHECK(table.bytes() < most);
        CHECK(who(table, by(8, many)) != "-");
        CHECK(who(table, by(16 * (many - trace::TaskTable::most_keys / 2), many)) != "-");
        CHECK(who(table, by(16 * (many - trace::TaskTable::most_keys - 2), many)) == "-");
    }
    SECTION("of new tasks between two blocks of records, all that a block may have are kept") {
        for (std::uint32_t i = 0; i < many; ++i) {
            table.add(section(i, 16 * i, trace::TaskKey::task, i));
        }
        CHECK(table.bytes() < most);
        CHECK(who(table, by(16 * (many - 16'384), many)) != "-");
        table.pass_records();
        CHECK(who(table, by(16 * (many - 16'384), many)) != "-");
        table.add(section(many, 16 * many, trace::TaskKey::task, many));
        CHECK(who(table, by(16 * (many - 16'384), many)) == "-");
        CHECK(who(table, by(16 * (many - trace::TaskTable::most_keys / 2), many)) != "-");
    }
    SECTION("of a key that changes hands often, the last changes are kept") {
        for (std::uint32_t i = 0; i < many; ++i) {
            table.add(section(i, task, trace::TaskKey::task, i));
            const std::uint32_t known = i - std::min<std::uint32_t>(i, 32'767);
            if (i % 16 == 0) {
                REQUIRE(who(table, by(task, known)) == fmt::format("recorder:{}:{}", known, known));
            }
        }
        CHECK(table.bytes() < most);
        CHECK(who(table, by(task, many / 2)) == "-");
    }
    SECTION("of keys that change hands one after the other") {
        for (std::uint32_t i = 0; i < many; ++i) {
            table.add(section(i, task + 8 * (i / 5'000), trace::TaskKey::task, i));
            for (std::uint32_t j = 0; i % 5'000 == 0 && j < i / 5'000; ++j) {
                table.add(section(i, task + 8 * j, trace::TaskKey::task, i));
            }
        }
        CHECK(table.bytes() < most);
        CHECK(who(table, by(task, many)) == "recorder:395000:395000");
    }
}

TEST_CASE("names are printed beside accesses, and in lines of their own only in raw output",
          "[tasks]") {
    const std::vector<abi::Record> all{named(task, 1'000'000, 7, 5, "sh"), by(task, 2'000'000)};
    const std::vector<std::byte> bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        writer.append(all);
        writer.finish(0, abi::Ending::machine_off);
    });
    for (const bool raw : {false, true}) {
        MemorySource source(bytes);
        trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
        reading::Naming naming(reader);
        char* text = nullptr;
        std::size_t size = 0;
        std::FILE* const out = open_memstream(&text, &size);
        view::LineStyle style = view::style_of(reader);
        style.raw = raw;
        view::Printer printer(out, {}, style);
        for (const abi::Record& record : reader.next()) {
            printer.add(naming.event(record));
        }
        printer.finish();
        std::fclose(out);
        const std::string lines(text, size);
        std::free(text);
        CAPTURE(lines);
        CHECK((lines.find(" task 0xc1234000 is sh (pid 7, process 5)\n") != std::string::npos) ==
              raw);
        CHECK((lines.find(" [sh:7]\n") != std::string::npos) == !raw);
    }
}

TEST_CASE("tasks keep their names without code addresses", "[tasks]") {
    const abi::Record record = named(task, 1, 0x1234, 0x5678, "0123456789abcdef");
    abi::Record copy = record;
    reading::strip_code(copy);
    CHECK(std::memcmp(&copy, &record, sizeof copy) == 0);
}
