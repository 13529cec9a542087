// Modules reported by the guest: markers of a fixed form, and names from there on.
#include "control/requests.hpp"
#include "file/trace_reader.hpp"
#include "reading/naming.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "records/module_mark.hpp"
#include "system/byte_source.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// The records of `ctl mark TEXT`.
std::vector<abi::Record> mark(const std::string& text, std::uint16_t id, std::uint64_t time) {
    std::vector<abi::Record> records;
    for (const control::Ask& ask : control::asks_of(std::vector<std::string>{"mark", text}, {})) {
        abi::Record record{};
        record.type = abi::RecordType::marker;
        record.device = abi::no_device;
        record.time = time;
        record.pa_low = static_cast<std::uint32_t>(ask.command) | std::uint32_t{id++} << 16;
        record.value = ask.first | std::uint64_t{ask.second} << 32;
        records.push_back(record);
    }
    return records;
}

abi::Record from(std::uint32_t pc, std::uint64_t time) {
    abi::Record record = access(0, 0, time);
    record.pc = pc;
    record.lr = 0xc000'1000;
    return record;
}

std::vector<std::byte> trace_of(const std::vector<abi::Record>& records) {
    return trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        writer.append(records);
        writer.finish(0, abi::Ending::machine_off);
    });
}

std::optional<trace::LoadedModule> of_text(const std::string& text) {
    return trace::module_of_mark("\"" + text + "\"", 7);
}

} // namespace

TEST_CASE("a marker of the fixed form describes a module", "[modules]") {
    const std::string text = trace::module_mark("mmc_core", 0xbf01'2000, 139'264);
    CHECK(text == "module: mmc_core 0xbf012000 139264");
    const auto module = of_text(text);
    REQUIRE(module);
    CHECK(module->name == "mmc_core");
    CHECK(module->base == 0xbf01'2000);
    CHECK(module->size == 139'264);
    CHECK(module->time == 7);
    CHECK(module->has(0xbf01'2000));
    CHECK(module->has(0xbf01'2000 + 139'263));
    CHECK(!module->has(0xbf01'2000 + 139'264));
    CHECK(!module->has(0xbf01'1fff));
    CHECK(of_text("module: a 0x1 1"));
    CHECK(of_text("module: " + std::string(64, 'a') + " 0xbf000000 67108864"));
}

TEST_CASE("any other marker stays a marker", "[modules]") {
    for (const char* text : {"",
                             "module",
                             "module: ",
                             "module: a",
                             "module: a 0xbf000000",
                             "module: a bf000000 1",
                             "module: a 0xbf000000 0",
                             "module: a 0x0 1",
                             "module: a 0xbf000000 -1",
                             "module: a 0xbf000000 1x",
                             "module: a 0xbf000000 1 ",
                             "module: a 0xbf000000 1 2",
                             "module:  0xbf000000 1",
                             "module: a  0xbf000000 1",
                             " module: a 0xbf000000 1",
                             "module: a 0xbf000000 67108865",
                             "module: a 0xffffffff 2",
                             "module: a 0x1bf000000 1",
                             "module: a 0x 1",
                             "Module: a 0xbf000000 1"}) {
        CAPTURE(text);
        CHECK(!of_text(text));
    }
    CHECK(!of_text("module: " + std::string(65, 'a') + " 0xbf000000 1"));
    CHECK(!trace::module_of_mark("\"module: a 0xbf000000 1\"...", 0)); // its end is missing
    CHECK(!trace::module_of_mark("\"", 0));
    CHECK(!trace::module_of_mark("7", 0));
}

TEST_CASE("code has the module that was reported before it", "[modules]") {
    std::vector<abi::Record> records{from(0xbf00'0010, 10)};
    const auto add = [&](const std::vector<abi::Record>& more) {
        records.insert(records.end(), more.begin(), more.end());
    };
    add(mark("module: drv 0xbf000000 4096", 65'534, 20)); // ids wrap in it
    add({from(0xbf00'0010, 30), from(0xbf00'1000, 31)});
    add(mark("module: other 0xbf000000 8192", 500, 40));
    add({from(0xbf00'0010, 50), from(0xbf00'1000, 51)});
    const std::vector<std::byte> bytes = trace_of(records);
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Naming naming(reader);
    std::vector<std::string> names;
    for (const abi::Record& record : reader.next()) {
        const Event event = naming.event(record);
        if (record.type == abi::RecordType::access) {
            names.push_back(event.code() == nullptr
                                ? "-"
                                : fmt::format("{}{}+{:#x}", event.code()->function,
                                              event.code()->module, event.code()->offset));
        }
    }
    CHECK(names == std::vector<std::string>{"-", "drv+0x10", "-", "other+0x10", "other+0x1000"});
}

TEST_CASE("a repeated module is not added again, and the table is bounded", "[modules]") {
    trace::ModuleTable table;
    for (unsigned i = 0; i < 3; ++i) {
        table.add(*trace::module_of_mark("\"module: drv 0xbf000000 4096\"", i));
    }
    CHECK(table.modules().size() == 1);
    for (unsigned i = 0; i < 6000; ++i) {
        table.add(
            *trace::module_of_mark(fmt::format("\"module: m{} 0x{:x} 1\"", i, 0x1000 + i), i));
        REQUIRE(table.modules().size() <= trace::ModuleTable::most_modules);
        REQUIRE(table.module_at(0x1000 + i, i) != nullptr);
    }
    CHECK(table.module_at(0x1000 + 3999, 6000) != nullptr);
    CHECK(table.module_at(0xbf00'0000, 6000) == nullptr); // reported first
}

TEST_CASE("a module that is loaded again and again replaces its old entry", "[modules]") {
    trace::ModuleTable table;
    const auto section = [&table](const std::string& lines) {
        table.add(std::as_bytes(std::span(lines)));
    };
    const auto load = [&](const std::string& name, unsigned base, unsigned time) {
        std::string lines =
            fmt::format("module {} {:x} 4096 live {}\ntext {:x} 4096\n", name, base, time, base);
        for (unsigned i = 0; i < 200; ++i) {
            lines += fmt::format("{:x} t function_{} [{}]\n", base + 16 * i, i, name);
        }
        section(lines);
    };
    load("stays", 0xbf80'0000, 0);
    for (unsigned i = 1; i < 3000; ++i) {
        load("drv", 0xbf00'0000 + 0x1000 * (i % 2000), i);
        const unsigned before = i - std::min(i - 1, 255u); // records may still need it
        const auto code = table.function_at(0xbf00'0010 + 0x1000 * (before % 2000), before);
        REQUIRE(code);
        REQUIRE(code->function == "function_1");
    }
    CHECK(table.modules().size() < 1000);
    const auto stays = table.function_at(0xbf80'0000, 3000);
    REQUIRE(stays);
    CHECK(stays->module == "stays");
    CHECK(!table.function_at(0xbf00'0000 + 0x1000 * 1500, 2999)); // nothing is there
}

TEST_CASE("a large module that is loaded again and again displaces no other", "[modules]") {
    trace::ModuleTable table;
    std::string lines;
    for (unsigned i = 0; i < 5'000; ++i) {
        lines += fmt::format("{:x} t function_{} [large]\n", 0xbf00'0000 + 16 * i, i);
    }
    for (unsigned i = 0; i < 300; ++i) {
        const std::string all =
            (i == 0 ? "module stays bf800000 4096 live 0\ntext bf800000 4096\n" : "") +
            fmt::format("module large bf000000 4096 live {}\n", i) + lines;
        table.add(std::as_bytes(std::span(all)));
        REQUIRE(table.bytes_beside({}) < trace::ModuleTable::most_bytes + (1u << 16));
    }
    CHECK(table.module_at(0xbf80'0000, 300) != nullptr);
}

TEST_CASE("reports of modules take bounded memory", "[modules]") {
    const std::string what = GENERATE("functions", "names", "texts", "modules");
    CAPTURE(what);
    trace::ModuleTable table;
    std::string lines = "module greedy bf000000 4096 live 0\ntext bf000000 4096\n";
    const std::string text(what == "names" ? 5'000 : 1, 'x');
    while (lines.size() < (8u << 20)) {
        lines += what == "texts"     ? "text bf000000 1\n"
                 : what == "modules" ? fmt::format("module m{} 1 1 live 1\n", lines.size())
                                     : "bf000000 t " + text + " [m]\n";
    }
    for (unsigned i = 0; i < 3; ++i) {
        table.add(std::as_bytes(std::span(lines)));
        CHECK(table.bytes_beside({}) < trace::ModuleTable::most_bytes + (1u << 16));
    }
    CHECK(!table.modules().empty());
}

TEST_CASE("without code addresses the markers of modules are left out", "[modules]") {
    std::vector<abi::Record> records = mark("module: drv 0xbf000000 4096", 900, 20);
    const auto other = mark("a text that stays", 10, 21);
    const auto second = mark("module: second 0xbf100000 4096", 300, 21);
    // Between its pieces.
    records.insert(records.begin() + 2, other.begin(), other.end());
    records.insert(records.begin() + 3, second.begin(), second.end());
    std::for_each(records.begin() + 2, records.end(), [](abi::Record& r) { r.time = 21; });
    records.push_back(from(0xbf00'0010, 30));
    const auto count = [&](bool no_pc, std::optional<std::uint64_t> begin = std::nullopt) {
        const FileDescriptor file = memory_file("trace", 0);
        trace::WriteProgress progress;
        trace::FileWriter writer(file.get(), progress);
        write_info(writer);
        write_regions(writer, {});
        writer.append(records);
        writer.finish(0, abi::Ending::machine_off);
        reading::TraceOptions options;
        options.path = fmt::format("/proc/self/fd/{}", file.get());
        options.no_pc = no_pc;
        options.from = begin;
        reading::Trace trace(options);
        std::size_t events = 0;
        while (trace.next() != nullptr) {
            ++events;
        }
        return events;
    };
    CHECK(count(false) == records.size());
    CHECK(count(true) == other.size() + 1);
    // Its first pieces are before the range.
    CHECK(count(true, 500) == other.size() + 1);
}
