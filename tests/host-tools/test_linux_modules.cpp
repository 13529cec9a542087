// Modules found in RAM, in both layouts, sound and hostile, and what a trace says about them.
#include "fake_modules.hpp"
#include "linux/caller_finder.hpp"
#include "linux/task_layout.hpp"
#include "records.hpp"
#include "records/module_table.hpp"
#include "task_runs.hpp"

#include <fmt/format.h>

#include <random>

using namespace mmioscope;
using namespace mmioscope::linux_guest;
using namespace mmioscope::test;
using namespace std::chrono_literals;

namespace {

Kernel kernel_in(const FakeModules& modules) {
    const std::optional<Kernel> found = KernelFinder(modules.kernel.memory()).find();
    REQUIRE(found);
    return *found;
}

std::vector<std::byte> bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

} // namespace

TEST_CASE("modules and their functions are read from either layout", "[linux]") {
    FakeModules modules(GENERATE(false, true));
    ModuleReader none(kernel_in(modules));
    CHECK(none.modules() == std::vector<std::uint32_t>{});
    modules.load(1, "first");
    modules.load(3, "second_one");
    ModuleReader reader(kernel_in(modules));
    const auto at = reader.modules();
    REQUIRE(at);
    CHECK(*at == std::vector<std::uint32_t>{FakeModules::address(3), FakeModules::address(1)});
    const std::optional<Module> module = reader.read(at->at(0));
    REQUIRE(module);
    CHECK(module->name == "second_one");
    CHECK(module->base == FakeModules::base(3));
    CHECK(module->size == 0x4000);
    CHECK(module->live);
    CHECK(module->text == std::vector<AddressRange>{{FakeModules::base(3), 0x1000}});
    const auto functions = reader.functions(at->at(0), module->text, 1 << 20);
    REQUIRE(functions.size() == 2);
    CHECK(functions[1] == Module::Function{FakeModules::base(3) + 0x100, 'T', "second_one_b"});
}

TEST_CASE("reading a hostile list of modules ends without a list", "[linux]") {
    FakeModules modules(true);
    modules.load(1, "first");
    modules.load(2, "second");
    const std::uint32_t first = FakeModules::address(1), second = FakeModules::address(2);
    ModuleReader reader(kernel_in(modules));
    REQUIRE(reader.modules());
    SECTION("a cycle of modules") {
        modules.kernel.set(first + 4, second + 4);
        modules.kernel.set(second + 8, first + 4);
        CHECK(!reader.modules());
        CHECK(!ModuleReader(kernel_in(modules)).modules());
    }
    SECTION("a wild pointer") {
        modules.kernel.set(first + 4, GENERATE(0u, 3u, 0xffff'ffffu));
        CHECK(!reader.modules());
    }
    SECTION("symbols without end") {
        modules.kernel.set(second + FakeModules::kallsyms + 8, 0xffff'ffff);
        modules.kernel.set(second + FakeModules::kallsyms + 12, FakeKernel::modules);
        const auto module = reader.read(first);
        REQUIRE(module);
        CHECK(reader.functions(second, module->text, 1 << 23).size() < 65536);
    }
    SECTION("memory beyond everything") {
        modules.kernel.set(second + FakeModules::memory + 4, 0xffff'ffff);
        REQUIRE(reader.read(first));
        CHECK(!reader.read(second));
    }
}

namespace {

/// What a recorder learns about modules from a kernel without symbols.
struct Learner {
    explicit Learner(const Kernel& kernel) : watch(kernel), finder(kernel, none, watch) {}

    std::string see(std::span<const abi::Record> records, ModuleWatch::Clock::time_point now) {
        watch.look_around(time, now);
        finder.see(test::task_runs(records), now);
        time = records.empty() ? time : records.back().time;
        return watch.take_news();
    }

    symbols::FunctionTable none{{}};
    ModuleWatch watch;
    CallerFinder finder;
    std::uint64_t time = 0;
};

} // namespace

TEST_CASE("a module is reported when it is loaded, changes, or a record comes from it", "[linux]") {
    FakeModules modules(false);
    Learner learner(kernel_in(modules));
    ModuleWatch::Clock::time_point now{10s};
    std::vector<abi::Record> records(3, access(0, 0, 500));
    abi::Record& second = records[1];
    CHECK(learner.see({}, now).empty());
    modules.load(1, "first");
    CHECK(learner.see(records, now += 100ms).empty()); // not in its code, and too early
    second.pc = FakeModules::base(1) + 0x104;
    second.time = 600;
    records[2].time = 650;
    trace::ModuleTable table;
    table.add(bytes_of(learner.see(records, now += 5ms)));
    REQUIRE(table.modules().size() == 1);
    CHECK(table.modules()[0]->time == 600);
    const auto code = table.function_at(second.pc, second.time);
    REQUIRE(code);
    CHECK(code->function == "first_b");
    CHECK(code->offset == 4);
    CHECK(code->module == "first");
    CHECK(!table.function_at(FakeModules::base(1) + 0x1000, 600));
    CHECK(learner.see(records, now += 300ms).empty());
    // Another one at the same place; the time decides which of them.
    modules.unload(1);
    modules.load(1, "other");
    second.time = records[2].time = 900;
    table.add(bytes_of(learner.see(records, now += 300ms)));
    CHECK(table.function_at(second.pc, 900)->function == "other_b");
    CHECK(table.function_at(second.pc, 640)->function == "first_b");
    CHECK(table.function_at(second.pc, 100)->function == "first_b");
    // By its caller, but not too often; and then only by the clock.
    modules.load(2, "second");
    second.lr = FakeModules::base(2);
    CHECK(learner.see(records, now += 5ms).starts_with("module second bf008000 16384 live 900\n"));
    modules.load(3, "third");
    second.lr = FakeModules::base(3);
    CHECK(learner.see(records, now += 1ms).empty());
    CHECK(learner.see({}, now += 200ms).empty());
    CHECK(learner.see({}, now += 300ms).starts_with("module third "));
}

TEST_CASE("in a loop that uses LR for data, a module is reported where LR points into it",
          "[linux]") {
    FakeModules modules(false);
    modules.load(1, "first");
    Learner learner(kernel_in(modules));
    ModuleWatch::Clock::time_point now{10s};
    std::vector<abi::Record> records;
    const std::uint32_t first_a = FakeModules::base(1);
    modules.kernel.set(first_a, 0xe92d'4010);         // push {r4, lr}
    modules.kernel.set(first_a + 0x100, 0xebff'ffbe); // first_b: bl first_a
    for (const std::uint32_t lr : {first_a + 0x104, 1u, 2u, FakeModules::base(2) + 4, 3u}) {
        records.push_back(access(0, 0, 500 + records.size()));
        records.back().cpu_sequence = static_cast<std::uint32_t>(records.size());
        records.back().pc = first_a + 4;
        records.back().lr = lr;
    }
    learner.see(records, now);
    modules.load(2, "second");
    CHECK(learner.see(records, now += 5ms).starts_with("module second bf008000 16384 live 503\n"));
}

namespace {

/// Symbols of module 1: as many as a list may have, all the same function with a long name.
void share_symbols(FakeModules& modules) {
    FakeKernel& kernel = modules.kernel;
    const std::uint32_t table = FakeKernel::linear + 0x18'0000, names = table - 0x400,
                        types = table - 0x1'1000, to = FakeModules::address(1);
    modules.put(names, std::string(1, 0) + std::string(250, 'x'));
    for (std::uint32_t i = 1; i < 65535; ++i) {
        kernel.set(table + i * 16, 1);
        kernel.set(table + i * 16 + 4, FakeModules::base(1));
        kernel.set(types + (i & ~3u), 0x7474'7474);
    }
    kernel.set(to + FakeModules::kallsyms + 4, table);
    kernel.set(to + FakeModules::kallsyms + 8, 65535);
    kernel.set(to + FakeModules::kallsyms + 12, names);
    kernel.set(to + FakeModules::kallsyms + 16, types);
}

} // namespace

TEST_CASE("the report of a hostile module fits a section, and other modules get their turn",
          "[linux]") {
    FakeModules modules(true);
    Learner learner(kernel_in(modules));
    ModuleWatch::Clock::time_point now{10s};
    modules.load(2, "patient");
    modules.load(1, "greedy");
    share_symbols(modules);
    const std::string first = learner.see({}, now);
    CHECK(first.find("module greedy") == 0);
    CHECK(first.size() > (4u << 20));
    CHECK(first.size() < (16u << 20)); // limit of readers
    CHECK(first.find("module patient") == std::string::npos);
    CHECK(learner.see({}, now += 300ms).find("module patient") == 0);
}

TEST_CASE("a section of only the used functions of modules gives each used address the same name",
          "[linux]") {
    std::mt19937 generator(3);
    const auto random = [&generator] { return static_cast<std::uint32_t>(generator()); };
    const auto found_in = [](const trace::ModuleTable& modules, std::uint32_t address,
                             std::uint64_t time) {
        const std::optional<Location> found = modules.function_at(address, time);
        return found ? fmt::format("{}+{}[{}]", found->function, found->offset, found->module) : "";
    };
    std::size_t kept = 0, whole = 0;
    for (unsigned round = 0; round < 200; ++round) {
        std::string all;
        for (unsigned n = 0; n < 3; ++n) {
            const std::uint32_t base = 0xbf00'0000 + 0x1000 * (random() % 4);
            all += fmt::format("module m{} {:x} 65536 live {}\ntext {:x} 4096\n", n, base,
                               random() % 9, base);
            for (unsigned i = random() % 20; i > 0; --i) {
                all += fmt::format("{:x} t f{} [m{}]\n", base + random() % 64 * 16, i, n);
            }
        }
        std::vector<std::uint32_t> used(random() % 8);
        std::ranges::generate(
            used, [&] { return static_cast<std::uint32_t>(0xbf00'0000 + random() % 0x5000); });
        std::ranges::sort(used);
        const std::string part = trace::only_used(all, used);
        trace::ModuleTable before, after;
        before.add(bytes_of(all));
        after.add(bytes_of(part));
        for (const std::uint32_t address : used) {
            for (std::uint64_t time = 0; time < 9; time += 2) {
                REQUIRE(found_in(before, address, time) == found_in(after, address, time));
            }
        }
        kept += part.size();
        whole += all.size();
    }
    CHECK(kept < whole / 2);
    CHECK(trace::only_used("no module\nbf000000 t f", {}) == "no module\n");
}

TEST_CASE("a section of modules may hold any bytes", "[linux]") {
    trace::ModuleTable table;
    table.add(bytes_of("bf000000 t f [m]\ntext bf000000 10\nmodule\nmodule a\nmodule a x 1 live 1\n"
                       "module \x1b bf000000 1 live 1\nmodule a bf000000 -1 live 1\n\n\n   \n"));
    CHECK(table.modules().empty());
    table.add(bytes_of("module m bf000000 4096 live 5\ntext bf000000 4294967295\nbf000010 t b [m]\n"
                       "bf000000 t a [m]\nbf000000 t again [m]\nzz t c [m]\nbf000020 t \x1b [m]"));
    REQUIRE(table.modules().size() == 1);
    CHECK(table.modules()[0]->functions.size() == 3);
    CHECK(table.function_at(0xbf00'0004, 9)->function == "a");
    CHECK(table.function_at(0xbf00'0030, 9)->function == "b");
    CHECK(!table.function_at(0xbeff'ffff, 9));
}
