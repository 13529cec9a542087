// Callers found in RAM: calls, places of return addresses, and what counts as a caller. The code is
// what GNU as makes from the lines beside it.
#include "../sim/random.hpp"
#include "fake_modules.hpp"
#include "linux/caller_finder.hpp"
#include "linux/task_layout.hpp"
#include "records.hpp"
#include "task_runs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>

using namespace mmioscope;
using namespace mmioscope::linux_guest;
using namespace mmioscope::test;
using Kind = ReturnPlace::Kind;

namespace {

constexpr std::uint32_t code = FakeKernel::linear + 0x28'0000;

/// A kernel with code in it.
struct Coded {
    Coded() { kernel.boot(); }

    void put(std::uint32_t at, std::initializer_list<std::uint32_t> words) {
        for (const std::uint32_t word : words) {
            kernel.set(at, word);
            at += 4;
        }
    }
    Kernel found() const {
        const std::optional<Kernel> found = KernelFinder(kernel.memory()).find();
        REQUIRE(found);
        return *found;
    }
    ReturnPlace place(std::uint32_t pc, std::uint32_t size = 0x100) const {
        return return_place(found().space, {code, size}, pc);
    }

    FakeKernel kernel;
};

constexpr std::uint32_t bl(std::uint32_t at, std::uint32_t to) {
    return 0xeb00'0000 | ((to - at - 8) >> 2 & 0xff'ffff);
}

constexpr std::uint32_t copy = code, driver = code + 0x100, other = code + 0x200,
                        by_pointer = code + 0x300, wrapper = code + 0x400, end = code + 0x500;

/// A loop that uses LR for data, like __raw_readsl, and its callers.
struct Loop : Coded {
    Loop() {
        put(copy, {0xe92d'4010,   // push {r4, lr}
                   0xe590'3000,   // ldr r3, [r0]
                   0xe590'e000,   // ldr lr, [r0]
                   0xe252'2004,   // subs r2, r2, #4
                   0x5aff'fffb,   // bpl copy + 4
                   0xe8bd'4010,   // pop {r4, lr}
                   0xe590'3000,   // ldr r3, [r0]
                   0xe12f'ff1e}); // bx lr
        put(driver, {0xe92d'4010, bl(driver + 4, copy), bl(driver + 8, other), 0xe8bd'8010});
        put(other, {0xe12f'ff1e});
        put(by_pointer, {0xe92d'4010, 0xe12f'ff33, 0xe8bd'8010}); // blx r3
        put(wrapper, {0xe1a0'3001, 0xea00'0000 | ((copy - wrapper - 4 - 8) >> 2 & 0xff'ffff)});
        stack = kernel.stack(kernel.tasks[1]) + 0x1000;
    }

    abi::Record at(std::uint32_t pc, std::uint32_t lr, std::uint32_t sequence = 0) const {
        abi::Record record = access(0, sequence, sequence);
        record.pc = pc;
        record.lr = lr;
        record.sp = stack;
        record.task = kernel.tasks[1];
        return record;
    }

    symbols::FunctionTable functions{{{copy, 't', "copy", ""},
                                      {driver, 't', "driver", ""},
                                      {other, 't', "other", ""},
                                      {by_pointer, 't', "by_pointer", ""},
                                      {wrapper, 't', "wrapper", ""},
                                      {end, 'D', "", ""}}};
    std::uint32_t stack = 0;
};

using Callers = std::vector<trace::Caller>;

constexpr ModuleWatch::Clock::time_point any_time{std::chrono::seconds(10)};

/// For each record; LR if that is right.
Callers callers(CallerFinder& finder, std::span<const abi::Record> records,
                ModuleWatch::Clock::time_point now = any_time) {
    const std::vector<trace::Run> runs = test::task_runs(records);
    const auto found = finder.see(runs, now);
    REQUIRE((found.empty() || found.size() == records.size()));
    Callers all;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const bool by_lr = found.empty() || found[i] == trace::lr_holds;
        all.push_back(by_lr ? records[i].lr : found[i]);
    }
    return all;
}

/// The finder keeps results, so a test that changes code makes a new one.
struct Finder {
    explicit Finder(const Loop& loop)
        : modules(loop.found()), finder(loop.found(), loop.functions, modules) {}
    std::uint32_t operator()(const abi::Record& record) {
        return callers(finder, {&record, 1}).front();
    }
    ModuleWatch modules;
    CallerFinder finder;
};

/// Likewise, for the code of modules.
struct OfModules {
    explicit OfModules(const FakeModules& modules, symbols::SymbolList of_kernel = {})
        : kernel(KernelFinder(modules.kernel.memory()).find().value()),
          functions(std::move(of_kernel)), watch(kernel), finder(kernel, functions, watch) {}
    Kernel kernel;
    symbols::FunctionTable functions;
    ModuleWatch watch;
    CallerFinder finder;
};

} // namespace

TEST_CASE("calls before return addresses are decoded", "[linux][callers]") {
    Coded coded;
    coded.put(code + 0x100, {0xebff'ffbe, 0x1bff'ffbd, 0xfa00'003c, 0xe12f'ff33, 0xe12f'ff13,
                             0xfbff'ffff, 0xe590'3000});
    coded.put(code + 0x200, {0xf7ff'b510, 0xf03f'fffd, 0xf7ff'fffb, 0x4798'eefa, 0x4798'bf00});
    const AddressSpace space = coded.found().space;
    const auto target = [&](std::uint32_t address) {
        const std::optional<Call> call = call_before(space, address);
        REQUIRE(call);
        return call->target.value_or(1);
    };
    CHECK(target(code + 0x104) == code);         // bl
    CHECK(target(code + 0x108) == code);         // blne
    CHECK(target(code + 0x10c) == code + 0x200); // blx
    CHECK(target(code + 0x110) == 1);            // blx r3
    CHECK(target(code + 0x118) == code + 0x11a); // blx to a halfword
    CHECK(target(code + 0x206 + 1) == code + 0x200);
    CHECK(target(code + 0x20a + 1) == code + 0x4'0200);
    CHECK(target(code + 0x20e + 1) == code);
    CHECK(target(code + 0x210 + 1) == 1);
    for (const std::uint32_t none : {code + 0x114, code + 0x11c, code + 0x206, code + 0x212 + 1,
                                     code + 0x102, 0u, 1u, 2u, 3u, 0xffff'ffffu, 0xffff'fffcu}) {
        INFO(std::hex << none);
        CHECK(!call_before(space, none));
    }
}

TEST_CASE("a function's code shows where its return address is", "[linux][callers]") {
    Coded coded;
    const auto at = [&](std::uint32_t word) { return coded.place(code + 4 * word); };
    const auto in_lr = [&](std::uint32_t word) { return at(word).kind == Kind::lr; };
    const auto unknown = [&](std::uint32_t word) { return at(word).kind == Kind::unknown; };
    const auto on_stack = [&](std::uint32_t word, std::uint32_t offset) {
        return at(word).kind == Kind::stack && at(word).offset == offset;
    };
    SECTION("pushed, LR used for data, restored") {
        coded.put(code, {0xe92d'4010, 0xe590'3000, 0xe590'e000, 0xe252'2004, 0x5aff'fffb,
                         0xe8bd'4010, 0xe590'3000, 0xe12f'ff1e, 0xe590'3000});
        CHECK(in_lr(0));
        CHECK(on_stack(1, 4)); // the loop returns here with data in LR
        CHECK(on_stack(5, 4));
        CHECK(in_lr(6));
        CHECK(unknown(8)); // after the end
        CHECK(at(1).depth == 8);
        CHECK(at(6).depth == 0);
    }
    SECTION("a frame with room in it, and calls") {
        coded.put(code, {0xe92d'4010, 0xe24d'db01, 0xe590'3000, bl(code + 12, code), 0xe590'3000,
                         0xe28d'db01, 0xe590'3000, 0xe8bd'8010});
        CHECK(in_lr(2));
        CHECK(on_stack(4, 0x404));
        CHECK(on_stack(6, 4));
    }
    SECTION("ftrace's call, as built and as the kernel patches it") {
        const std::uint32_t second = GENERATE(0xebff'ff00u, 0xe8bd'4000u);
        coded.put(code, {0xe92d'4010, 0xe24d'd008, 0xe52d'e004, second, 0xe590'3000, 0xe12f'ff1e});
        CHECK(in_lr(4));
        CHECK(at(4).depth == 16);
    }
    SECTION("a call that only looks like ftrace's: the pushed word is popped at the end") {
        const std::uint32_t end = GENERATE(0xe49d'f004u, 0xe8bd'8000u, 0xe49d'e004u);
        coded.put(code, {0xe52d'e004, bl(code + 4, code), 0xe590'3000, end});
        CHECK(!in_lr(2));
    }
    SECTION("a call on one path only, which returns elsewhere") {
        coded.put(code, {0xe52d'e004,               // push {lr}
                         0xe252'2004,               // subs r2, r2, #4
                         0x1800'8000 | 0x00bd'0000, // popne {pc}
                         0xe24d'd004,               // sub sp, sp, #4
                         0xe590'3000, bl(code + 20, code), 0xe590'3000});
        CHECK(in_lr(4));
        CHECK(on_stack(6, 4));
    }
    SECTION("a jump through a table") {
        coded.put(code, {0xe92d'4010, bl(code + 4, code), 0x979f'f103, 0xea00'0001, code + 0x14,
                         0xe590'3000, 0xe590'3000, 0xe8bd'8010});
        CHECK(on_stack(5, 4));
        CHECK(on_stack(6, 4));
    }
    SECTION("LR may have changed on paths that cannot be followed") {
        coded.put(code, {0xe92d'4010, 0x008f'f103, 0xe590'3000, bl(code + 12, code), 0xe12f'ff1e});
        CHECK(on_stack(2, 4));
    }
    SECTION("SP set from a register, changed in unsupported ways, or different on two paths") {
        const std::uint32_t word = GENERATE(0xe1a0'd007u, 0xed2d'8b02u, 0xe0cd'20d8u, 0xe8bd'2010u,
                                            0xe24d'd00fu, 0xe28d'db01u, 0xf42d'0a0du, 0xf40d'0a02u,
                                            0xf96d'0513u, 0xf8bd'0a00u, 0xfcad'0b02u);
        coded.put(code, {0xe92d'4010, word, 0xe590'3000});
        CHECK(unknown(2));
        coded.put(code, {0x0a00'0000, 0xe92d'4010, 0xe590'3000}); // beq code + 8; push
        CHECK(unknown(2));
    }
    SECTION("other instructions that write LR") {
        const std::uint32_t word =
            GENERATE(0xee10'ef10u, 0xe00e'0291u, 0xe8b0'4002u, 0xe59d'e004u, 0xe1a0'e003u,
                     0x01a0'e003u, 0xe12f'ff33u, 0xfa00'003cu, 0xe6ef'e073u, 0xe300'e000u,
                     0xecae'8b02u, 0xf42e'0a0du, 0xf40e'0a02u, 0xfe10'ef10u, 0xfc5e'3f10u);
        coded.put(code, {word, 0xe590'3000});
        CHECK(unknown(1));
    }
    SECTION("instructions that do not write LR") {
        const std::uint32_t word = GENERATE(0xe30e'4123u, 0xe320'f000u, 0xf57f'f05bu, 0xe1a0'300eu,
                                            0xe58d'e004u, 0xe15e'0003u, 0xe892'0010u, 0xf42e'0a0fu,
                                            0xf4de'f000u, 0xf5de'f000u, 0xed8e'0b02u);
        coded.put(code, {word, 0xe590'3000});
        CHECK(in_lr(1));
    }
    SECTION("nothing continues after BUG() and returns") {
        const std::uint32_t word = GENERATE(0xe7f0'01f2u, 0xe12f'ff1eu, 0xe8bd'8010u, 0xe49d'f004u,
                                            0xe1a0'f00eu, 0xeaff'fffeu);
        coded.put(code, {word, 0xe590'3000});
        CHECK(unknown(1));
    }
    SECTION("invalid places") {
        CHECK(coded.place(code - 4).kind == Kind::unknown);
        CHECK(coded.place(code + 0x100).kind == Kind::unknown);
        CHECK(coded.place(code + 2).kind == Kind::unknown);
        CHECK(coded.place(code, 0).kind == Kind::unknown);
        CHECK(coded.place(code, 0xffff'ffff).kind == Kind::unknown);
        CHECK(return_place(coded.found().space, {0xfff0'0000, 64}, 0xfff0'0000).kind ==
              Kind::unknown);
    }
}

TEST_CASE("the stack gives the caller where LR holds data", "[linux][callers]") {
    Loop loop;
    Finder finder(loop);
    const std::uint32_t back = driver + 8;
    loop.kernel.set(loop.stack + 4, back);
    CHECK(finder(loop.at(copy + 4, 0x1234'5678)) == back);
    CHECK(finder(loop.at(copy + 8, other)) == back);
    // Something else is there now: no caller, and never LR.
    for (const std::uint32_t word : {0u, driver + 12, driver + 4, by_pointer + 8, 0xffff'ffffu}) {
        loop.kernel.set(loop.stack + 4, word);
        CHECK(finder(loop.at(copy + 4, other + 4)) == 0u);
    }
    // A matching word, at a place that is not the return address.
    loop.kernel.set(loop.stack, back);
    loop.kernel.set(loop.stack + 8, back);
    CHECK(finder(loop.at(copy + 4, other + 4)) == 0u);
}

TEST_CASE("LR is the caller where it holds it, also for the records right after",
          "[linux][callers]") {
    Loop loop;
    Finder finder(loop);
    const std::uint32_t back = driver + 8;
    CHECK(finder(loop.at(copy + 4, back, 0)) == back);
    CHECK(finder(loop.at(copy + 8, back, 1)) == back);
    CHECK(finder(loop.at(copy + 4, 0x1234'5678, 2)) == back);
    CHECK(finder(loop.at(copy + 8, 0, 3)) == back);
    abi::Record record = loop.at(copy + 4, 0, 4);
    SECTION("another record in between") {
        record.cpu_sequence = 5;
    }
    SECTION("another frame") {
        record.sp -= 8;
    }
    SECTION("another task") {
        record.task += 8;
    }
    SECTION("another CPU") {
        record.cpu = 1;
    }
    SECTION("another function") {
        record.pc = other;
    }
    CHECK(finder(record) == 0u);
}

TEST_CASE("a call may reach a function through another function", "[linux][callers]") {
    Loop loop;
    loop.put(driver + 4, {bl(driver + 4, wrapper)}); // which ends with a branch to copy
    Finder finder(loop);
    loop.kernel.set(loop.stack + 4, driver + 8);
    CHECK(finder(loop.at(copy + 4, 0)) == driver + 8);
    loop.put(wrapper + 4, {0xe12f'ff1e});
    CHECK(Finder(loop)(loop.at(copy + 4, 0)) == 0u);
}

TEST_CASE("a call through a register counts if LR has shown its target", "[linux][callers]") {
    Loop loop;
    Finder finder(loop);
    const std::uint32_t back = by_pointer + 8;
    loop.kernel.set(loop.stack + 4, back);
    CHECK(finder(loop.at(copy + 4, 0, 0)) == 0u);
    CHECK(finder(loop.at(copy, back, 1)) == back); // LR unchanged
    CHECK(finder(loop.at(copy + 4, 0, 3)) == back);
    CHECK(finder(loop.at(other, 0, 4)) == 0u);
    // In a function that has not changed LR, an LR without a call before it is not a caller.
    CHECK(finder(loop.at(other, driver + 4, 5)) == 0u);
    CHECK(finder(loop.at(end, 5, 6)) == 5u); // in no function
}

TEST_CASE(
    "Thumb code: the first word on the stack that follows a call to the function is the caller",
    "[linux][callers]") {
    Loop loop;
    Finder finder(loop);
    const auto record = [&](std::uint32_t lr) {
        abi::Record result = loop.at(copy + 4, lr);
        result.mode |= abi::mode_thumb;
        return result;
    };
    loop.kernel.set(loop.stack + 8, other + 4);
    loop.kernel.set(loop.stack + 12, driver + 8);
    loop.kernel.set(loop.stack + 16, driver + 12);
    CHECK(finder(record(0)) == driver + 8);
    CHECK(finder(record(driver + 12)) == driver + 8);
    loop.kernel.set(loop.stack + 12, 0);
    CHECK(finder(record(0)) == 0u);
    loop.kernel.set(loop.stack + 4 * 63, driver + 8);
    CHECK(finder(record(0)) == driver + 8);
    loop.kernel.set(loop.stack + 4 * 63, 0);
    loop.kernel.set(loop.stack + 4 * 64, driver + 8); // too far
    CHECK(finder(record(0)) == 0u);
    // Not beyond the stack.
    loop.stack = loop.kernel.stack(loop.kernel.tasks[1]) + 0x2000 - 8;
    loop.kernel.set(loop.stack + 8, driver + 8);
    CHECK(finder(record(0)) == 0u);
    CHECK(finder(record(driver + 8)) == driver + 8); // LR needs no stack
}

TEST_CASE("a hostile stack or LR gives no caller and causes no other reads", "[linux][callers]") {
    Loop loop;
    Finder finder(loop);
    std::mt19937 twister(5);
    const auto random = [&] { return static_cast<std::uint32_t>(twister()); };
    for (unsigned i = 0; i < 20'000; ++i) {
        abi::Record record = loop.at(code + random() % 0x140 * 4, random(), random());
        record.sp = i % 4 == 0 ? loop.stack + random() % 8 : random();
        record.mode = static_cast<std::uint8_t>(random());
        record.cpu = static_cast<std::uint8_t>(random());
        loop.kernel.set(loop.stack + 4 * (random() % 16), random());
        const bool known = record.pc < end && trace::in_kernel(record);
        INFO(std::hex << record.pc << ' ' << record.lr << ' ' << record.sp);
        CHECK(finder(record) == (known ? 0u : record.lr));
    }
    for (const std::uint32_t sp : {0u, 1u, 0xffff'ffffu, 0xffff'fffcu, 0xc000'0000u - 4}) {
        abi::Record record = loop.at(copy + 4, sp);
        record.sp = sp;
        CHECK(finder(record) == 0u);
    }
}

TEST_CASE("new code at a module's addresses is analysed again", "[linux][callers]") {
    FakeModules modules(false);
    modules.load(1, "first");
    const std::uint32_t start = FakeModules::base(1), back = start + 0x104;
    modules.kernel.set(back - 4, bl(back - 4, start)); // first_b calls first_a
    modules.kernel.set(start, 0xe92d'4010);
    OfModules of(modules);
    ModuleWatch& watch = of.watch;
    CallerFinder& finder = of.finder;
    abi::Record record = access(0, 0, 0);
    record.pc = start + 4;
    record.lr = back;
    ModuleWatch::Clock::time_point now = any_time;
    CHECK(callers(finder, {&record, 1}, now) == Callers{back});
    CHECK(watch.function(start + 4)->start == start); // now known
    CHECK(watch.function(start + 0x1000) == std::nullopt);
    modules.unload(1);
    modules.load(1, "other");
    modules.kernel.set(back - 4, 0xe320'f000); // nop
    CHECK(callers(finder, {&record, 1}, now) == Callers{back});
    watch.look_around(0, now += std::chrono::seconds(1));
    CHECK(callers(finder, {&record, 1}, now) == Callers{0});
    modules.unload(1);
    watch.look_around(0, now += std::chrono::seconds(1));
    CHECK(callers(finder, {&record, 1}, now) == Callers{back}); // in no function
}

TEST_CASE("a module outside the area of modules makes calls, too", "[linux][callers]") {
    FakeModules modules(false);
    modules.load(1, "far");
    const std::uint32_t start = FakeKernel::linear + 0x38'0000;
    const std::uint32_t back = start + 0x1000; // its last instruction is the call
    modules.kernel.set(FakeModules::address(1) + FakeModules::memory, start);
    modules.symbols(1, {{start, 't', "far_a"}, {start + 0x100, 't', "far_b"}});
    modules.kernel.set(back - 4, bl(back - 4, start));
    modules.kernel.set(start, 0xe92d'4010);     // push {r4, lr}
    modules.kernel.set(start + 4, 0xe590'e000); // ldr lr, [r0]: LR must be judged by the code alone
    OfModules of(modules, {{code, 't', "of_kernel", ""}, {code + 4, 'D', "", ""}});
    of.watch.look_around(0, any_time);
    std::vector<abi::Record> records(2, access(0, 0, 0));
    records[0].pc = records[1].pc = start + 8;
    records[0].lr = back;
    records[1].lr = 1; // data
    records[1].cpu_sequence = 1;
    CHECK(callers(of.finder, records) == Callers{back, back});
}

TEST_CASE("an intact LR is not data, wherever it points", "[linux][callers]") {
    const std::uint32_t far = FakeKernel::linear + 0x38'0104; // not in known code
    Loop loop;
    loop.kernel.set(far - 4, 0xe12f'ff33); // blx r3
    Finder finder(loop);
    CHECK(finder(loop.at(copy, far, 0)) == far);
    CHECK(finder(loop.at(copy, driver + 8, 1)) == driver + 8);
    const std::vector<abi::Record> records = {loop.at(copy, driver + 8, 2), loop.at(copy, far, 3)};
    CHECK(callers(finder.finder, records) == Callers{driver + 8, far});
    // Without names of the kernel any address may be code, even if a function uses LR for data.
    FakeModules modules(false);
    modules.load(1, "first");
    modules.kernel.set(far - 4, 0xe12f'ff33);
    modules.kernel.set(FakeModules::base(1), 0xe92d'4010);     // push {r4, lr}
    modules.kernel.set(FakeModules::base(1) + 4, 0xe590'e000); // ldr lr, [r0]
    OfModules nameless(modules);
    std::vector<abi::Record> of_module(3, access(0, 0, 0));
    for (std::uint32_t i = 0; i < 3; ++i) {
        of_module[i].cpu_sequence = i == 0 ? 0 : 4 + i; // the first one proves nothing for the next
        of_module[i].pc = FakeModules::base(1) + (i == 0 ? 0 : 8);
        of_module[i].sp = FakeKernel::linear + (i == 0 ? 8 : 0);
        of_module[i].lr = i < 2 ? far : 1;
    }
    CHECK(callers(nameless.finder, of_module) == Callers{far, far, far});
}

TEST_CASE("each record gets its caller where LR does not hold it", "[linux][callers]") {
    Loop loop;
    ModuleWatch modules(loop.found());
    CallerFinder finder(loop.found(), loop.functions, modules);
    const std::uint32_t back = driver + 8;
    std::vector<abi::Record> records = {
        loop.at(copy + 4, back, 7),     loop.at(copy + 8, back, 8), loop.at(copy + 4, 1, 9),
        loop.at(copy + 8, 2, 10),       loop.at(copy, back, 11),    loop.at(copy + 4, 3, 12),
        loop.at(other, by_pointer, 13), loop.at(end, 5, 14),        loop.at(copy + 4, 6, 15)};
    records[4].sp += 8; // before the push
    records[7].mode = 0x10;
    records.push_back(records[3]);
    records.back().cpu = 1;
    CHECK(callers(finder, records) == Callers{back, back, back, back, back, back, 0, 5, 0, 0});
    // A record that names a task, right before an access; and one for which no task is known.
    records = {loop.at(copy + 4, back, 20), loop.at(0, 0, 21), loop.at(copy + 4, 1, 22),
               loop.at(0, 0, 24), loop.at(copy + 4, 1, 25)};
    records[1].type = records[3].type = abi::RecordType::task;
    records[1].mode = records[3].mode = 0;
    CHECK(callers(finder, records) == Callers{back, 0, back, 0, 0});
    CHECK(finder.see(test::task_runs(records), any_time)[1] == trace::lr_holds); // has none
    // cpu_sequence wraps.
    records = {loop.at(copy + 4, back, 0xffff'fffe), loop.at(copy + 4, 1, 0xffff'ffff),
               loop.at(copy + 4, 1, 0)};
    CHECK(callers(finder, records) == Callers{back, back, back});
    // If LR is right for all, nothing else counts.
    records = {loop.at(copy + 4, back, 5), loop.at(copy + 8, back, 6)};
    CHECK(finder.see(test::task_runs(records), any_time).empty());
}

TEST_CASE("callers are the same in whatever pieces the records come", "[linux][callers]") {
    for (unsigned seed = 0; seed < sim::seeds(30); ++seed) {
        std::mt19937 random(seed);
        Loop loop;
        loop.put(code + 0x500, {0xe92d'4010, bl(code + 0x504, other), 0xe8bd'8010});
        // Frames of equal depth with the return address at different places: in LR, at SP, behind
        // SP.
        loop.put(by_pointer,
                 {0xe52d'e004, 0xe12f'ff33, 0xe590'3000, 0xe49d'e004, 0xe92d'4010, 0xe12f'ff33,
                  0xe590'3000, 0xe8bd'4010, 0xe24d'd004, 0xe52d'e004, 0xe12f'ff33, 0xe590'3000});
        const auto place = [&](std::uint32_t at) {
            return return_place(loop.found().space, {by_pointer, 0x100}, by_pointer + at);
        };
        REQUIRE((place(4).kind == Kind::lr && place(4).depth == 4));
        REQUIRE((place(8).kind == Kind::stack && place(8).depth == 4 && place(8).offset == 0));
        REQUIRE((place(24).kind == Kind::stack && place(24).depth == 8 && place(24).offset == 4));
        REQUIRE((place(44).kind == Kind::stack && place(44).depth == 8 && place(44).offset == 0));
        for (std::uint32_t i = 0; i < 16; ++i) {
            const std::uint32_t words[] = {driver + 8, by_pointer + 8, wrapper + 4, 0,
                                           code + 0x508};
            loop.kernel.set(loop.stack + i * 4, words[random() % 5]);
        }
        std::vector<abi::Record> records;
        const std::uint32_t first = seed % 2 == 0 ? 0 : 0xffff'ff00; // wraps during the test
        for (std::uint32_t i = 0; i < 400; ++i) {
            const std::uint32_t pcs[] = {copy,
                                         copy + 4,
                                         copy + 8,
                                         copy + 24,
                                         copy + 36, // unreachable
                                         other,
                                         other,
                                         wrapper,
                                         wrapper + 8, // unreachable
                                         end,
                                         driver,
                                         driver + 4,
                                         driver + 8,
                                         by_pointer + 4,
                                         by_pointer + 8,
                                         by_pointer + 24,
                                         by_pointer + 44,
                                         copy + 5, // odd, unlike in real rings
                                         1};
            const std::uint32_t lrs[] = {driver + 8,
                                         driver + 12,
                                         by_pointer + 8,
                                         0x1234'5678,
                                         0,
                                         code + 0x508,
                                         static_cast<std::uint32_t>(random())};
            abi::Record record =
                loop.at(pcs[random() % std::size(pcs)], lrs[random() % 7], first + i);
            record.sp += static_cast<std::uint32_t>(random() % 4 * 8);
            record.task = loop.kernel.tasks[random() % 2];
            record.mode = random() % 8 != 0 ? 0x13 : 0x10;
            // With some seeds most records continue the previous one.
            const unsigned rarely = 1 + seed % 4 * 4;
            const auto as_before = [&](auto member) {
                if (!records.empty() && random() % rarely != 0) {
                    record.*member = records.back().*member;
                }
            };
            as_before(&abi::Record::sp);
            as_before(&abi::Record::task);
            as_before(&abi::Record::mode);
            if (random() % 2 == 0) {
                as_before(random() % 2 == 0 ? &abi::Record::pc : &abi::Record::lr);
            }
            record.cpu = random() % 8 == 0 ? 1 : 0;
            record.type = random() % 16 == 0 ? abi::RecordType::task : abi::RecordType::access;
            records.push_back(record);
        }
        using ByRecord = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;
        const auto callers_in_pieces = [&](std::size_t most) {
            ModuleWatch modules(loop.found());
            CallerFinder finder(loop.found(), loop.functions, modules);
            ByRecord found;
            for (std::span<const abi::Record> rest = records; !rest.empty();) {
                const auto piece = rest.first(std::min(rest.size(), 1 + random() % most));
                rest = rest.subspan(piece.size());
                const Callers all = callers(finder, piece);
                for (std::size_t i = 0; i < piece.size(); ++i) {
                    if (all[i] != piece[i].lr) {
                        found[{piece[i].cpu, piece[i].cpu_sequence}] = all[i];
                    }
                }
            }
            return found;
        };
        const ByRecord one_by_one = callers_in_pieces(1);
        CHECK(one_by_one.size() > 50);
        CHECK(callers_in_pieces(records.size()) == one_by_one);
        CHECK(callers_in_pieces(20) == one_by_one);
    }
}

TEST_CASE("earlier contents of a stack do not affect later callers", "[linux][callers]") {
    Loop loop;
    ModuleWatch modules(loop.found());
    CallerFinder finder(loop.found(), loop.functions, modules);
    for (std::uint32_t i = 0; i < 4; ++i) {
        loop.kernel.set(loop.stack + 4, i % 2 == 0 ? driver + 8 : 0);
        const abi::Record record = loop.at(copy + 4, 1, 10 * i);
        CHECK(callers(finder, {&record, 1}) == Callers{i % 2 == 0 ? driver + 8 : 0});
    }
}
