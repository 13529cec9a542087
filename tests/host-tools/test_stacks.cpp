// Accesses with the stack of who made them: callers, lines, counts.
#include "abi/stack.hpp"
#include "analysis/count.hpp"
#include "export/formats.hpp"
#include "file/texts.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "reading_all.hpp"
#include "records/module_table.hpp"
#include "symbols/section.hpp"
#include "symbols/symbols.hpp"
#include "symbols/unwind.hpp"
#include "view/printer.hpp"
#include "wires.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr std::uint32_t code = 0xc010'0000, module = 0xbf00'0000, sp = 0xc200'1f00;

/// A record of `pc`, and its stack: r4, the words.
std::vector<abi::Record> with_stack(std::uint32_t sequence, std::uint32_t pc, std::uint32_t lr,
                                    const std::vector<std::uint32_t>& words) {
    abi::Record owner = access(0, sequence, 1000 + sequence);
    owner.pc = pc;
    owner.lr = lr;
    owner.sp = sp;
    owner.flags = abi::flag_payload;
    abi::StackHead head{abi::PayloadKind::stack, {}};
    std::vector<std::uint8_t> bytes(sizeof head + 4 * words.size());
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, words.data(), 4 * words.size());
    std::vector<abi::Record> all{owner};
    for (std::size_t at = 0; at < bytes.size(); at += abi::piece_bytes) {
        const std::size_t here = std::min<std::size_t>(bytes.size() - at, abi::piece_bytes);
        abi::Record piece = abi::next_piece(all.back());
        abi::set_bytes(piece, bytes.data() + at, here, at + here < bytes.size());
        all.push_back(piece);
    }
    return all;
}

/// first() calls second(), that third(), and that a module's function; each saves r4 and LR.
Bytes some_trace(bool frames,
                 const std::vector<std::string>& functions = {"first", "second", "third"}) {
    return trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        const symbols::SymbolList names{{code, 'T', functions[0], ""},
                                        {code + 0x40, 'T', functions[1], ""},
                                        {code + 0x80, 'T', functions[2], ""},
                                        {code + 0xc0, 'D', "end", ""}};
        symbols::UnwindTable table;
        const std::vector<std::uint8_t> pop_r4_lr{0xa8};
        table.add(code, {});
        table.add(code + 0x40, pop_r4_lr);
        trace::write_about(writer,
                           {"", symbols::pack(names), {}, frames ? table.bytes() : Bytes()});
        const std::string modules = "module m bf000000 4096 live 1\ntext bf000000 256\n"
                                    "bf000000 t inner [m]\nframe bf000000 a8\n";
        writer.values(trace::modules_section, std::span(modules.data(), modules.size()));
        const std::vector<std::uint32_t> by_third{4, code + 0x94, 4, code + 0x54, 4, code + 0x10};
        std::vector<abi::Record> records = with_stack(0, module + 0x20, module + 0x1c, by_third);
        for (const auto& group :
             {with_stack(8, code + 0x88, code + 0x84, {4, code + 0x54, 4, code + 0x10}),
              with_stack(16, code + 0x88, code + 0x84, {4, code + 0x54}), // it ends
              std::vector<abi::Record>{access(0, 24, 2000)}}) {
            records.insert(records.end(), group.begin(), group.end());
        }
        writer.append(std::span(records));
        writer.finish(0, abi::Ending::machine_off);
    });
}

std::string printed(const Bytes& bytes, view::PrintOptions options) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const out = ::open_memstream(&text, &size);
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    view::Printer printer(out, options, view::style_of(trace.reader()));
    reading::drive(trace, {&printer});
    std::fclose(out);
    const std::string all(text, size);
    std::free(text); // NOLINT: open_memstream's
    return all;
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++found;
    }
    return found;
}

} // namespace

TEST_CASE("an access with a stack has the functions that called its own") {
    const bool frames = GENERATE(true, false);
    const Bytes bytes = some_trace(frames);
    MemorySource source(bytes);
    reading::TraceOptions options;
    options.no_pc = GENERATE(false, true);
    reading::Trace trace(options, source);
    std::vector<std::string> stacks, callers;
    while (const Event* event = trace.next()) {
        stacks.push_back(analysis::folded_stack(*event));
        callers.push_back(event->caller() == nullptr ? "" : event->caller()->function);
    }
    if (options.no_pc || !frames) { // in a module there are frames
        CHECK(stacks ==
              std::vector<std::string>{!options.no_pc ? "third;inner [m]" : "", "", "", ""});
        return;
    }
    CHECK(stacks == std::vector<std::string>{"first;second;third;inner [m]", "first;second;third",
                                             "second;third", ""});
    CHECK(callers == std::vector<std::string>{"third", "second", "second", ""});
}

TEST_CASE("the caller of an access is the first function that is no accessor, or none is known") {
    const auto callers = [](const Bytes& bytes) {
        MemorySource source(bytes);
        reading::Trace trace({}, source);
        std::vector<std::string> names;
        while (const Event* event = trace.next()) {
            names.push_back(event->caller() == nullptr ? "" : event->caller()->function);
        }
        return names;
    };
    CHECK(callers(some_trace(true, {"first", "second", "regmap_write"})) ==
          std::vector<std::string>{"second", "second", "second", ""});
    CHECK(callers(some_trace(true, {"first", "_regmap_write.part.0", "regmap_write"})) ==
          std::vector<std::string>{"first", "first", "", ""}); // the third stack ends before it
    for (const char* name : {"__raw_readsl", "ioread32be", "iowrite8_rep", "_memcpy_fromio",
                             "bgpio_set", "mem32_serial_in", "uart_console_write",
                             "pci_bus_read_config_dword", "irq_gc_mask_set_bit.constprop.0"}) {
        CHECK(symbols::is_accessor(name));
    }
    for (const char* name : {"led_trigger_event", "mmci_irq", "serial8250_do_startup",
                             "pci_scan_slot", "memcpy", "my_ioread32", ""}) {
        CHECK(!symbols::is_accessor(name));
    }
}

TEST_CASE("a call with a stack has the functions that called the one that begins") {
    const Bytes bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {});
        const symbols::SymbolList names{{code, 'T', "first", ""},
                                        {code + 0x40, 'T', "regmap_read", ""},
                                        {code + 0xc0, 'D', "end", ""}};
        symbols::UnwindTable table;
        table.add(code, {});
        table.add(code + 0x40, std::vector<std::uint8_t>{0xa8});
        trace::write_about(writer, {"", symbols::pack(names), {}, table.bytes()});
        // It calls itself: what it would find behind its PUSH is on the stack, too.
        std::vector<abi::Record> records =
            with_stack(0, code + 0x40, code + 0x54, {4, code + 0x54, 4, code + 0x10});
        records[0].type = abi::RecordType::call;
        writer.append(std::span(records));
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    analysis::Counts counts({analysis::Key::stack});
    reading::drive(trace, {&counts});
    const auto& by = counts.by(analysis::Key::stack).held();
    REQUIRE(by.size() == 1);
    CHECK(by.begin()->first == "first;regmap_read;regmap_read;regmap_read");
}

TEST_CASE("print --stack has the callers below the line, and no other print has their bytes") {
    const Bytes bytes = some_trace(true);
    view::PrintOptions options;
    const std::string plain = printed(bytes, options);
    CHECK(count(plain, "\n") == 5);
    CHECK(count(plain, "<-") == 3);
    options.stacks = true;
    const std::string all = printed(bytes, options);
    CHECK(count(all, "\n") == 5 + 3 + 2 + 1);
    CHECK(all.find("<- third [m]") == std::string::npos);
    CHECK(all.find(
              "<- third+0x14\n                 <- second+0x14\n                 <- first+0x10\n") !=
          std::string::npos);
    options.limit = 1;
    CHECK(count(printed(bytes, options), "\n") == 1 + 1 + 3);
}

TEST_CASE("accesses are counted by their stacks, and written for flame graphs") {
    const Bytes bytes = some_trace(true);
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    analysis::Counts counts({analysis::Key::stack});
    const Folder folder;
    const std::filesystem::path path = folder / "stacks";
    const auto output = exporting::format_of("folded").open(path.string());
    exporting::Exporter& folded = output->exporter();
    folded.begin(trace.reader());
    reading::drive(trace, {&counts, &folded});
    const auto& by = counts.by(analysis::Key::stack).held();
    REQUIRE(by.size() == 4);
    CHECK(by.at("first;second;third").accesses() == 1);
    CHECK(by.at("(no stack)").accesses() == 1);
    output->finish();
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    CHECK(text == "first;second;third 1\nfirst;second;third;inner [m] 1\nsecond;third 1\n");
    CHECK(folded.left_out().size() == 1);
}
