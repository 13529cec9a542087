// Events as rows: names are looked up on demand, kept by id, and forgotten.
#include "../sim/random.hpp"
#include "allocations.hpp"
#include "random_trace.hpp"
#include "reading/trace.hpp"
#include "symbols/symbols.hpp"
#include "system/byte_source.hpp"

#include <type_traits>

using namespace mmioscope;
using namespace mmioscope::test;

static_assert(std::is_trivially_copyable_v<Event>);

namespace {

/// The names of a record from what its trace has said so far: looked up anew for each record,
/// without a cache.
class Plain {
public:
    explicit Plain(const trace::TraceReader& reader)
        : reader_(reader), devices_(registers::Sources{}) {
        symbols_.add(symbols::Trust::image,
                     std::make_unique<symbols::FunctionTable>(symbols::unpack(*reader.symbols())));
    }

    std::string names(const abi::Record& record, std::uint64_t number) {
        devices_.refresh(reader_);
        const std::string device(reader_.names()[record.device]);
        const std::uint64_t address = abi::physical_address(record);
        const std::uint64_t base = reader_.names().base(record.device);
        const std::uint64_t offset = address < base ? address : address - base;
        const std::optional<Task> its = reader_.tasks().of(record);
        const std::optional<Location> code =
            trace::in_kernel(record) ? at(record.pc & ~1u, record.time) : std::nullopt;
        const std::optional<Location> caller = caller_of(record, number, code);
        const std::string names =
            fmt::format("{}+{:#x} {} {} < {} {} <{}> {}", device, offset, reg(record, offset),
                        text(code ? &*code : nullptr), text(caller ? &*caller : nullptr),
                        !its ? "-" : fmt::format("{}:{}", its->comm, its->pid),
                        interrupt(record, offset), said(record));
        if (devices_.registers().watches(record.device)) {
            devices_.registers().observe(record, address - base);
        }
        return names;
    }

private:
    std::string reg(const abi::Record& record, std::uint64_t offset) {
        using enum abi::RecordType;
        const bool reaches = record.type == access || record.type == begin || record.type == own ||
                             record.type == fault;
        const Register* const found =
            reaches ? devices_.registers().find(record.device, offset, abi::access_size(record),
                                                abi::is_write(record))
                    : nullptr;
        return found == nullptr ? "-" : found->name;
    }

    std::string said(const abi::Record& record) {
        if (record.type != abi::RecordType::marker) {
            return reading::text_of(record);
        }
        const std::optional<trace::Marker> marker = markers_.add(record);
        return marker ? marker->text : "";
    }

    std::string interrupt(const abi::Record& record, std::uint64_t offset) {
        registers::InterruptNames& names = devices_.interrupts();
        return record.type == abi::RecordType::access && names.says(record, offset)
                   ? names.text(record.value)
                   : "";
    }

    std::optional<Location> at(std::uint32_t address, std::uint64_t time) {
        if (Location known; symbols_.locate(address, known)) {
            return known;
        }
        const trace::LoadedModule* const module = reader_.modules().module_at(address, time);
        if (module == nullptr) {
            return std::nullopt;
        }
        std::optional<Location> found = reader_.modules().function_at(address, time);
        if (!found && address - module->base < module->size) {
            found = Location{"", address - module->base, module->name, {}};
        }
        if (found) {
            found->offset += address & 1;
        }
        return found;
    }

    std::optional<Location> caller_of(const abi::Record& record, std::uint64_t number,
                                      const std::optional<Location>& code) {
        const std::uint32_t to = trace::return_address(record, reader_.caller_of(number));
        if (!trace::in_kernel(record) || to == 0) {
            return std::nullopt;
        }
        std::optional<Location> caller = at((to & ~1u) - 1, record.time);
        const bool same =
            code && caller && code->function == caller->function && code->module == caller->module;
        return same ? std::nullopt : caller;
    }

    const trace::TraceReader& reader_;
    symbols::Symbols symbols_;
    registers::TraceDevices devices_;
    trace::MarkerTexts markers_;
};

/// With tests that need names, and sometimes others.
std::string random_filter(Random& random, unsigned depth) {
    static constexpr const char* tests[] = {"func==f_?",     "func==*3*",
                                            "caller==f_*a",  "caller",
                                            "module==told*", "module==m*",
                                            "comm==said1",   "comm==t2",
                                            "pid < 5",       "tgid==1",
                                            "reg==RBR",      "dev==serial*",
                                            "dev==-",        "dev!=gic*",
                                            "task==t1",      "irq",
                                            "text",          "size==4",
                                            "value < 100",   "LCR.DLAB == 1",
                                            "type==fault",   "task in (0xc2000000, said2)"};
    if (depth == 0) {
        return tests[below(random, std::size(tests))];
    }
    const std::string left = random_filter(random, depth - 1);
    switch (below(random, 4)) {
    case 0: return left;
    case 1: return "!(" + left + ")";
    case 2: return "(" + left + ") && " + random_filter(random, depth - 1);
    default: return "(" + left + ") || (" + random_filter(random, depth - 1) + ")";
    }
}

/// Has one name of each kind, and counts the lookups.
class CountingNames final : public Names {
public:
    CountingNames() {
        places_.push_back({"device", 0x18, &reg});
        locations_.push_back(&location);
        tasks_.push_back(&its_task);
        texts_.emplace_back("text");
    }

    void resolve(std::span<const Event> events) override {
        for (const Event& event : events) {
            if (event.ids.caller == unasked) {
                event.ids.place = event.ids.code = event.ids.caller = event.ids.task =
                    ask(resolved);
            }
        }
    }
    Id interrupt_of(const Event&) override { return ask(interrupt); }
    Id text_of(const Event&) override { return ask(text_asked); }

    unsigned all() const { return resolved + interrupt + text_asked; }

    Register reg{"REG", 0x18, 4, "", {}};
    Location location{"function", 4, "", {}};
    Task its_task{7, 7, "sh"};
    unsigned resolved = 0, interrupt = 0, text_asked = 0;

private:
    static Id ask(unsigned& asked) {
        ++asked;
        return 1;
    }
};

} // namespace

TEST_CASE("row: a name is looked up once, on first use, and not again by copies") {
    CountingNames names;
    Event event;
    event.names = &names;
    CHECK(names.all() == 0);
    CHECK(event.device() == "device");
    CHECK(event.offset() == 0x18);
    CHECK(event.reg() == &names.reg);
    CHECK(names.resolved == 1);
    CHECK(names.all() == 1);
    CHECK(event.code() == &names.location);
    CHECK(event.code()->function == "function");
    CHECK(names.all() == 1); // place, code, caller and task are looked up together
    event.settle();
    CHECK(names.all() == 3);
    const Event copy = event;
    event.settle();
    CHECK(copy.caller() == &names.location);
    CHECK(copy.task() == &names.its_task);
    CHECK(copy.interrupt() == "text");
    CHECK(copy.text() == "text");
    CHECK(names.all() == 3);
}

TEST_CASE("row: an event without a trace has no names") {
    const Event event;
    CHECK(event.device() == "-");
    CHECK(event.offset() == 0);
    CHECK(event.reg() == nullptr);
    CHECK(event.code() == nullptr);
    CHECK(event.caller() == nullptr);
    CHECK(event.task() == nullptr);
    CHECK(event.interrupt().empty());
    CHECK(event.text().empty());
}

TEST_CASE("row: reading a trace looks up what the filter asks for, and nothing else") {
    const std::vector<std::byte> bytes = RandomTrace(1, 2'000).bytes;
    const auto asked = [&bytes](const char* filter) {
        MemorySource source(bytes);
        reading::TraceOptions options;
        options.filter = filter;
        reading::Trace trace(options, source);
        std::string kinds;
        const Event* const event = trace.next();
        REQUIRE(event != nullptr);
        const Event::Ids& ids = event->ids;
        for (const auto& [id, kind] :
             {std::pair(ids.place, 'p'), std::pair(ids.code, 'c'), std::pair(ids.caller, 'l'),
              std::pair(ids.task, 't'), std::pair(ids.interrupt, 'i'), std::pair(ids.text, 'x')}) {
            kinds += id == unasked ? "" : std::string(1, kind);
        }
        return kinds;
    };
    CHECK(asked("").empty());
    CHECK(asked("value >= 0 || !value").empty());
    CHECK(asked("func != nothing") == "c");
    CHECK(asked("reg != nothing") == "p");
    CHECK(asked("caller != nothing") == "pclti"); // looked up together: not an interrupt controller
}

TEST_CASE("row: a settled copy keeps its names, whatever the trace reports later") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, board_regions());
        writer.section(abi::SectionType::device_tree, board_tree());
        abi::Record record = at(3, uart);
        record.pc = modules + 0x10;
        record.lr = modules + 0x2010;
        const auto tell = [&](std::uint64_t time, const char* name) {
            append_text(writer, trace::modules_section,
                        fmt::format("module {} {:x} 4096 live {}\ntext {:x} 4096\n{:x} t run [x]\n"
                                    "module {}_core {:x} 4096 live {}\ntext {:x} 4096\n"
                                    "{:x} t call [x]\n",
                                    name, modules, time, modules, modules, name, modules + 0x2000,
                                    time, modules + 0x2000, modules + 0x2000));
            append_task(writer, time, task, trace::TaskKey::task, 7, name);
        };
        tell(0, "before");
        append(writer, record);
        abi::Record mode = at(3, lcr, true, 0x83);
        mode.time = 10;
        append(writer, mode);
        tell(20, "behind");
        record.time = 30;
        append(writer, record);
        append(writer, record);
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    const Event* event = trace.next();
    REQUIRE(event != nullptr);
    event->settle();
    const Event held = *event;
    const std::string before = "serial@1c28000+0x0 RBR run+0x10[before] < call+0x10[before_core] "
                               "before:7 <> ";
    CHECK(names_of(held) == before);
    REQUIRE(trace.next() != nullptr);
    CHECK(names_of(held) == before);
    event = trace.next();
    REQUIRE(event != nullptr);
    CHECK(names_of(*event) == "serial@1c28000+0x0 DLL run+0x10[behind] < call+0x10[behind_core] "
                              "behind:7 <> ");
    CHECK(names_of(held) == before);
    while (trace.next() != nullptr) {
    }
    CHECK(names_of(held) == before);
}

TEST_CASE("row: the code at an address is looked up once, and has one id") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        trace::write_about(writer, {"", symbols::pack(functions()), {}});
        for (std::uint32_t i = 0; i < 4'000; ++i) {
            abi::Record record = at(0, uart);
            record.pc = kernel + (i % 2 == 0 ? 0x1234 : 0x1000 * i);
            append(writer, record);
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    const Location* known = nullptr;
    while (const Event* event = trace.next()) {
        const Location* const code = event->code();
        REQUIRE(code != nullptr);
        if (event->record.pc == kernel + 0x1234) {
            known = known == nullptr ? code : known;
            REQUIRE(code == known);
            REQUIRE(code->function == "f_12");
        }
    }
    CHECK(known != nullptr);
}

TEST_CASE("row: names equal those of a trace read without a cache, and are dropped in time") {
    const unsigned seed = GENERATE(1u, 2u, 3u);
    CAPTURE(seed);
    const RandomTrace random(seed, 60'000);
    MemorySource source(random.bytes);
    reading::TraceOptions options;
    options.report = [](const std::string& line) { FAIL(line); };
    reading::Trace trace(options, source);
    Plain plain(trace.reader());
    Random choice(seed);
    std::vector<std::pair<Event, std::string>> held;
    unsigned forgotten = 0;
    const auto check_held = [&held] {
        for (const auto& [event, names] : held) {
            REQUIRE(names_of(event) == names);
        }
        held.clear();
    };
    trace.on_forget([&] {
        CHECK(trace.naming().full());
        ++forgotten;
        check_held();
    });
    std::uint64_t events = 0;
    while (const Event* event = trace.next()) {
        ++events;
        const std::string expected = plain.names(event->record, event->number);
        if (below(choice, 4) == 0) {
            continue; // names that are never looked up
        }
        if (below(choice, 2) == 0) { // in another order than names_of()
            (void)event->text(), (void)event->caller(), (void)event->interrupt();
        }
        INFO("event " << events);
        event->settle();
        REQUIRE(names_of(*event) == expected);
        held.emplace_back(*event, expected);
    }
    check_held();
    CHECK(events >= 60'000);
    CHECK(forgotten > 2);
    CHECK(!trace.naming().full());
}

TEST_CASE("row: a filter gives each event the same result as that event alone") {
    const unsigned seed = GENERATE(range(1u, 1 + sim::seeds(1)));
    const RandomTrace random(seed, 10'000);
    Random choice(seed);
    for (unsigned i = 0; i < sim::seeds(20); ++i) {
        const std::string text = random_filter(choice, 2);
        CAPTURE(seed, text);
        reading::TraceOptions options;
        MemorySource all_source(random.bytes), source(random.bytes);
        reading::Trace all(options, all_source);
        filter::Filter alone(text);
        std::optional<std::uint64_t> bound;
        alone.start_at(all.reader().start().value_or(0));
        options.filter = text;
        options.report = [](const std::string&) {}; // for devices that do not exist
        reading::Trace filtered(options, source);
        while (const Event* event = all.next()) {
            if (bound != all.reader().device_changes()) { // other devices from here on
                bound = all.reader().device_changes();
                alone.bind(all.reader());
            }
            event->settle();
            Event copy = *event;
            copy.context_number = 0; // results for others do not belong to its context
            alone.forget();
            if (alone(copy)) {
                const Event* const other = filtered.next();
                REQUIRE(other != nullptr);
                REQUIRE(other->number == event->number);
                REQUIRE(names_of(*other) == names_of(*event));
            }
        }
        REQUIRE(filtered.next() == nullptr);
    }
}

TEST_CASE("row: a register with more variants than are numbered is still the right one") {
    const FileDescriptor description = memory_file("many.regs", 0);
    std::string lines = "device many\ncompatible acme,many\n0x4 MODE\n    [7:0] M\n";
    for (unsigned mode = 0; mode < 20; ++mode) {
        lines += fmt::format("0x0 R{} when MODE.M={}\n", mode, mode);
    }
    append(description.get(), std::as_bytes(std::span(lines)), "the description");
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1000, 0x1000, "/many@1000")});
        writer.section(abi::SectionType::device_tree, make_tree([](TreeMaker& make) {
                           make.cells(1, 1);
                           make.node("many@1000", [&] {
                               make.strings("compatible", {"acme,many"});
                               make.numbers("reg", {0x1000, 0x1000});
                           });
                       }));
        Random random(1);
        for (unsigned i = 0; i < 5'000; ++i) {
            const std::uint32_t mode = below(random, i < 2'500 ? 7 : 20);
            append(writer, at(0, 0x1004, true, mode));
            append(writer, at(0, 0x1000, false, mode));
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    reading::TraceOptions options;
    options.registers = {fmt::format("/proc/self/fd/{}", description.get())};
    reading::Trace trace(options, source);
    unsigned reads = 0;
    while (const Event* event = trace.next()) {
        REQUIRE(event->reg() != nullptr);
        if (!abi::is_write(event->record)) {
            REQUIRE(event->reg()->name == fmt::format("R{}", event->record.value));
            ++reads;
        }
    }
    CHECK(reads == 5'000);
}

TEST_CASE("row: each kind of name is dropped when there are very many") {
    const char* const what = GENERATE("places", "code", "callers", "tasks", "texts", "nothing");
    CAPTURE(what);
    const std::string kind(what);
    const std::vector<std::byte> bytes = trace_bytes([&kind](trace::FileWriter& writer) {
        write_info(writer);
        trace::write_about(writer, {"", symbols::pack(functions()), {}});
        for (std::uint32_t i = 0; i < 30'000; ++i) {
            abi::Record record = at(abi::no_device, uart);
            record.pa_low += kind == "places" ? i : 0;
            record.pc = kernel + (kind == "code" ? 4 * i : 0);
            record.lr = kind == "callers" ? kernel + 0x1000 + 4 * i : 0;
            if (kind == "tasks" && i % 3'000 == 0) {
                std::vector<trace::TaskEntry> entries;
                for (std::uint32_t j = i; j < i + 3'000; ++j) {
                    entries.push_back({0, 8 * j, trace::TaskKey::task, j, j, "t"});
                }
                writer.flush();
                writer.values(trace::tasks_section, std::span<const trace::TaskEntry>(entries));
            }
            record.task = kind == "tasks" ? 8 * i : 0;
            if (kind == "texts") {
                record.type = abi::RecordType::marker;
                record.pa_low = static_cast<std::uint32_t>(abi::control::Command::marker);
                record.value = i;
            }
            append(writer, record);
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    unsigned forgotten = 0;
    trace.on_forget([&forgotten] { ++forgotten; });
    while (const Event* event = trace.next()) {
        event->settle();
    }
    CHECK((forgotten > 0) == (kind != "nothing"));
}

TEST_CASE("row: an address outside any code takes no memory") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        trace::write_about(writer, {"", symbols::pack(functions()), {}});
        append_text(writer, trace::modules_section,
                    fmt::format("module drv {:x} 4096 live 0\ntext {:x} 4096\n", modules, modules));
        Random random(1);
        for (std::uint32_t i = 0; i < 50'000; ++i) {
            abi::Record record = at(0, uart);
            record.pc = kernel + 0x1234;
            record.lr = static_cast<std::uint32_t>(random()) % modules;
            append(writer, record);
        }
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& line) { FAIL(line); });
    reading::Naming naming(reader);
    naming.add_own_symbols([](const std::string& line) { FAIL(line); });
    unsigned events = 0;
    unsigned callers = 0;
    std::size_t taken = 0;
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        naming.event(records[0]).settle(); // what is new in the section, and what all records share
        const Allocations here;
        for (const abi::Record& record : records) {
            const Event event = naming.event(record);
            event.settle();
            callers += event.caller() == nullptr ? 0 : 1;
            ++events;
        }
        taken += here.calls();
    }
    CHECK(events == 50'000);
    CHECK(callers == 0);
    CHECK(taken == 0);
    CHECK(!naming.full());
}

TEST_CASE("row: a new list of devices in the trace resets the state of registers") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, board_regions());
        writer.section(abi::SectionType::device_tree, board_tree());
        append(writer, at(3, lcr, true, 0x83));
        writer.flush();
        write_regions(writer, {region(gic - 0x1000, 0x1000, "/gic@1c81000")});
        append(writer, at(3, uart));
        writer.flush();
        write_regions(writer, board_regions());
        append(writer, at(3, uart));
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    reading::Trace trace({}, source);
    std::string names;
    while (const Event* event = trace.next()) {
        names += fmt::format("{} {}\n", event->device(),
                             event->reg() == nullptr ? "-" : event->reg()->name);
    }
    CHECK(names == "serial@1c28000 LCR\n- -\nserial@1c28000 RBR\n");
}
