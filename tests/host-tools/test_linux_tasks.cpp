// Tasks found in RAM: the kernel's page tables and lists, sound and hostile, and the tasks of
// records.
#include "fake_kernel.hpp"
#include "linux/caller_finder.hpp"
#include "linux/task_layout.hpp"
#include "reading/naming.hpp"
#include "records.hpp"
#include "task_runs.hpp"

#include <random>
#include <thread>

using namespace mmioscope;
using namespace mmioscope::linux_guest;
using namespace mmioscope::test;
using Format = AddressSpace::Format;

namespace {

constexpr FakeKernel::Offsets other{4, 0x328, 0x3d0, 0x3f4, 0x4e8, 0x434};

std::optional<Kernel> find(const FakeKernel& kernel) {
    return KernelFinder(kernel.memory()).find();
}

abi::Record of_task(std::uint32_t task, std::uint64_t time, std::uint8_t mode = 0x13) {
    abi::Record record = access(0, 0, time);
    record.task = task;
    record.mode = mode;
    return record;
}

std::vector<trace::TaskEntry> seen(TaskWatch& watch, const abi::Record& record) {
    std::vector<trace::TaskEntry> entries;
    watch.see(test::task_runs({&record, 1}), entries);
    return entries;
}

} // namespace

TEST_CASE("kernel addresses are translated with page tables of either format", "[linux]") {
    const Format format = GENERATE(Format::short_descriptors, Format::long_descriptors);
    FakeKernel kernel(format);
    kernel.boot();
    const std::optional<Kernel> found = find(kernel);
    REQUIRE(found);
    CHECK(found->space.physical(0xc020'0004) == 0x8020'0004);
    CHECK(found->space.physical(0xbf00'3ffc) == 0x8030'3ffc);
    CHECK(!found->space.physical(0xbf04'0000));
    CHECK(!found->space.physical(0xc040'0000));
    CHECK(!found->space.physical(0));
    CHECK(!found->space.word(0xc020'0002));
}

TEST_CASE("a text without its terminating zero byte is refused", "[linux]") {
    FakeKernel kernel(GENERATE(Format::short_descriptors, Format::long_descriptors));
    kernel.boot();
    const std::optional<Kernel> found = find(kernel);
    REQUIRE(found);
    const AddressSpace& space = found->space;
    const std::uint32_t last = FakeKernel::modules + 0x4'0000 - 4; // nothing is mapped after this
    for (std::uint32_t at = last - 0x100; at <= last; at += 4) {
        kernel.set(at, 0x7877'7675); // "uvwx"
    }
    CHECK(!space.text(last - 6, 20));
    CHECK(!space.text(last - 0x80, 40)); // too long
    kernel.set(last, 0x0077'7675);
    CHECK(space.text(last - 1, 5) == "xuvw");
    CHECK(!space.text(last - 1, 4));
    CHECK(space.text(last + 3, 1) == "");
    CHECK(!space.text(last + 4, 1));
    const std::optional<std::string> longest = space.text(last - 0xfd, 0x101);
    REQUIRE(longest);
    CHECK(longest->size() == 0x100);
    CHECK(longest->starts_with("xuvwxuvw"));
    CHECK(!space.text(last - 0xfd, 0x100));
    // Across the end of a page.
    const std::uint32_t end = FakeKernel::modules + 0x1000;
    kernel.set(end - 4, 0x7877'7675);
    kernel.set(end, 0x0000'7675);
    CHECK(space.text(end - 2, 16) == "wxuv");
}

TEST_CASE("supersections and large pages are translated", "[linux]") {
    FakeKernel kernel;
    const auto entry = [&](std::uint32_t at, std::uint32_t value) {
        kernel.set(FakeKernel::linear + at, value);
    };
    entry(0x4000 + 4 * 0xe01, 0x81a0'0000 | 1u << 18 | 5 << 5 | 2); // B3.5.1
    entry(0x4000 + 4 * 0xe10, 0x8000'a001);
    entry(0xa000 + 4 * 0x12, 0x8003'0001);
    const AddressSpace space(kernel.memory(), Format::short_descriptors, 0x8000'4000);
    CHECK(space.physical(0xe012'3456) == 0x5a'8112'3456);
    CHECK(space.physical(0xe101'2345) == 0x8003'2345);
    CHECK(!space.physical(0xe102'2345));
}

TEST_CASE("any layout of task_struct is found", "[linux]") {
    const Format format = GENERATE(Format::short_descriptors, Format::long_descriptors);
    const bool in_register = GENERATE(true, false);
    const bool one = GENERATE(true, false);
    FakeKernel kernel(format,
                      one ? FakeKernel::Offsets{0x20, 0x200, 0x290, 0x2b4, 0x3e0, 0x2f4} : other,
                      in_register);
    kernel.add(1, "init");
    CHECK(!find(kernel)); // no kthreadd yet: two processes may be any list
    kernel.add(2, "kthreadd");
    const std::optional<Kernel> found = find(kernel);
    REQUIRE(found);
    CHECK(found->init_task == kernel.tasks[0]);
    CHECK(found->layout.tasks == kernel.at.tasks);
    CHECK(found->layout.pid == kernel.at.pid);
    CHECK(found->layout.leader == kernel.at.leader);
    CHECK(found->layout.comm == kernel.at.comm);
    CHECK(found->layout.stack == kernel.at.stack);
    CHECK(found->layout.thread_node == kernel.at.node);
    CHECK(found->layout.current_in_register == in_register);
}

TEST_CASE("a task is read by its address and by its stack", "[linux]") {
    const bool in_register = GENERATE(true, false);
    FakeKernel kernel(Format::short_descriptors, other, in_register);
    kernel.boot();
    const std::uint32_t process = kernel.add(70, "server");
    const std::uint32_t thread = kernel.add_thread(process, 71, "worker");
    const std::optional<Kernel> found = find(kernel);
    REQUIRE(found);
    const TaskReader reader(*found);
    CHECK(reader.sound());
    const std::optional<Task> task = reader.task(thread);
    REQUIRE(task);
    CHECK(task->pid == 71);
    CHECK(task->tgid == 70);
    CHECK(task->comm == "worker");
    CHECK(reader.with_stack(kernel.stack(process)) == process);
    CHECK(reader.with_stack(kernel.stack(thread)) == thread);
    CHECK(!reader.with_stack(0xc030'0000));
    for (const std::uint32_t wrong :
         {0u, 4u, 0xffff'fff0u, 0xc030'0000u, thread + 4, 0xbf00'0000u}) {
        CHECK(!reader.task(wrong));
    }
    kernel.rename(kernel.tasks[0], "swapper");
    CHECK(!reader.sound());
}

TEST_CASE("the search for a kernel takes no more steps than allowed", "[linux]") {
    FakeKernel kernel;
    kernel.boot();
    const std::uint64_t comm = kernel.tasks[0] + kernel.at.comm - FakeKernel::linear + kernel.ram;
    const std::uint64_t limit = kernel.bytes.size();
    unsigned plenty = 1u << 18;
    REQUIRE(find_kernel(kernel.memory(), limit, comm, plenty));
    const unsigned taken = (1u << 18) - plenty;
    CHECK(taken < 1u << 14);
    for (unsigned few = 0; few < taken; few += 64) {
        unsigned left = few;
        CHECK(!find_kernel(kernel.memory(), limit, comm, left));
        CHECK(left == 0);
    }
}

TEST_CASE("of many new stacks, some are looked up at once and the others next", "[linux]") {
    FakeKernel kernel;
    kernel.boot();
    std::vector<abi::Record> records;
    for (std::uint32_t pid = 10; pid < 50; ++pid) {
        const std::uint32_t task = kernel.add(pid, "user");
        records.push_back(of_task(kernel.stack(task) + 0x1ff8, 1000 + pid, 0x10));
    }
    const std::optional<Kernel> found = find(kernel);
    REQUIRE(found);
    TaskWatch watch(*found, 1'000'000);
    std::vector<std::size_t> reported;
    for (int n = 0; n < 4; ++n) {
        std::vector<trace::TaskEntry> entries;
        watch.see(test::task_runs(records), entries);
        reported.push_back(entries.size());
    }
    CHECK(reported == std::vector<std::size_t>{16, 16, 8, 0});
}

TEST_CASE("a task that stays is reported again before readers forget it", "[linux]") {
    FakeKernel kernel;
    kernel.boot();
    const std::optional<Kernel> found = find(kernel);
    REQUIRE(found);
    TaskWatch watch(*found, 1'000'000);
    trace::TaskTable table;
    std::uint64_t time = 1000;
    for (std::uint32_t i = 0; i < 5 * trace::TaskTable::most_keys; ++i) {
        const bool his = i % 100 == 0;
        const abi::Record record = of_task(his ? kernel.tasks[1] : 16 * i, time += 2000);
        auto entries = seen(watch, record);
        if (!his) { // as if this task existed
            entries = {{record.time, record.task, trace::TaskKey::task, i, i, "passes"}};
        }
        table.add(std::as_bytes(std::span(entries)));
        table.pass_records();
        if (his) {
            const auto task = table.of(record);
            REQUIRE(task);
            REQUIRE(task->comm == "init");
        }
    }
}

TEST_CASE("walking the lists of a hostile guest ends", "[linux]") {
    FakeKernel kernel;
    kernel.boot();
    const std::uint32_t last = kernel.tasks.back() + kernel.at.tasks;
    const std::optional<Kernel> found = find(kernel);
    REQUIRE(found);
    const TaskReader reader(*found);
    SECTION("a cycle without the head") {
        kernel.set(last, kernel.tasks[1] + kernel.at.tasks);
        CHECK(!find(kernel));
        CHECK(!reader.with_stack(0xc030'0000));
    }
    SECTION("a wild pointer") {
        kernel.set(last, GENERATE(0u, 1u, 0xffff'ffffu, 0xc03f'fffcu, 0xbf03'fffcu));
        CHECK(!find(kernel));
        CHECK(!reader.with_stack(0xc030'0000));
    }
    SECTION("a member that points to itself") {
        kernel.set(last, last);
        CHECK(!find(kernel));
        CHECK(!reader.with_stack(0xc030'0000));
    }
    SECTION("threads in a cycle without their first one") {
        const std::uint32_t thread = kernel.add_thread(kernel.tasks[1], 9, "t");
        kernel.set(thread + kernel.at.node, thread + kernel.at.node);
        CHECK(!reader.with_stack(0xc030'0000));
    }
    SECTION("page tables that point to themselves") {
        for (std::uint32_t i = 0; i < 0x4000; i += 4) {
            kernel.set(FakeKernel::linear + 0x4000 + i, 0x8000'4001);
        }
        CHECK(!find(kernel));
        CHECK(!reader.sound());
        CHECK(!reader.with_stack(0xc030'0000));
    }
}

TEST_CASE("no kernel is found in memory without one", "[linux]") {
    const std::vector<std::byte> zeros(1 << 20), ones(1 << 20, std::byte{0xff});
    CHECK(!KernelFinder({zeros, 0x8000'0000}).find());
    CHECK(!KernelFinder({ones, 0x8000'0000}).find());
    CHECK(!KernelFinder({{}, 0x8000'0000}).find());
    // Only the name, at each end.
    std::vector<std::byte> named(1 << 20);
    std::memcpy(named.data(), "swapper/0", 10);
    std::memcpy(named.data() + named.size() - 12, "swapper/0", 10);
    CHECK(!KernelFinder({named, 0x8000'0000}).find());
}

TEST_CASE("a kernel is found piece by piece while it boots", "[linux]") {
    using namespace std::chrono_literals;
    FakeKernel kernel;
    KernelFinder finder(kernel.memory());
    KernelFinder::Clock::time_point now{};
    const auto turn = [&] {
        std::optional<Kernel> found;
        for (int i = 0; i < 10 && !found; ++i) {
            found = finder.pass(now += 20ms);
        }
        return found;
    };
    CHECK(!turn());
    kernel.boot();
    CHECK(turn());
}

TEST_CASE("a task record is written only when the task is new or changed", "[linux]") {
    FakeKernel kernel;
    kernel.boot();
    const std::uint32_t one = kernel.add(50, "one"), two = kernel.add(51, "two");
    TaskWatch watch(*find(kernel), 1'000'000); // a millisecond is 1000 ticks
    auto entries = seen(watch, of_task(one, 5000));
    REQUIRE(entries.size() == 2); // also by its stack
    CHECK(entries[1].kind == trace::TaskKey::stack);
    CHECK(entries[1].key == kernel.stack(one));
    CHECK(entries[1].pid == 50);
    CHECK(entries[0].time == 5000);
    CHECK(entries[0].key == one);
    CHECK(entries[0].kind == trace::TaskKey::task);
    CHECK(entries[0].pid == 50);
    CHECK(entries[0].comm == std::string("one"));
    CHECK(seen(watch, of_task(two, 5001)).size() == 2);
    // They exchange their names, which are read again a millisecond later, not before.
    kernel.rename(one, "two");
    kernel.rename(two, "one");
    CHECK(seen(watch, of_task(one, 5999)).empty());
    entries = seen(watch, of_task(one, 6000));
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].comm == std::string("two"));
    CHECK(entries[0].pid == 50);
    entries = seen(watch, of_task(two, 9000));
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].comm == std::string("one"));
    CHECK(seen(watch, of_task(two, 19000)).empty());
}

TEST_CASE("tasks are reported at the same records in whatever pieces these come", "[linux]") {
    const bool in_register = GENERATE(true, false);
    const unsigned seed = GENERATE(range(0u, 10u));
    FakeKernel kernel(Format::short_descriptors, other, in_register);
    kernel.boot();
    const std::vector<std::uint32_t> tasks{kernel.add(50, "a"), kernel.add(51, "b"),
                                           kernel.add(52, "c")};
    TaskWatch all(*find(kernel), 100'000), one_by_one(*find(kernel), 100'000); // 100 ticks
    std::mt19937 random(seed);
    abi::Record record = of_task(tasks[0], 1000);
    std::size_t reported = 0;
    for (unsigned piece = 0; piece < 50; ++piece) {
        kernel.rename(tasks[random() % 3], std::string(1, static_cast<char>('a' + piece % 26)));
        std::vector<abi::Record> records;
        for (unsigned i = 0; i < 60; ++i) {
            ++record.cpu_sequence;
            record.time += random() % 16;
            if (random() % 8 == 0) { // in User mode the task is found by its stack
                const std::uint32_t task = tasks[random() % 3];
                record.mode = random() % 4 == 0 ? 0x10 : 0x13;
                record.task = record.mode == 0x10 ? kernel.stack(task) + 0x1ff8 : task;
                record.sp = kernel.stack(task) + 0x1000;
            }
            if (random() % 4 == 0) {
                record.sp = kernel.stack(tasks[random() % 3]) + 0x800;
            }
            records.push_back(record);
        }
        std::vector<trace::TaskEntry> entries, single;
        all.see(test::task_runs(records), entries);
        for (const abi::Record& each : records) {
            one_by_one.see(test::task_runs({&each, 1}), single);
        }
        REQUIRE(entries.size() == single.size());
        for (std::size_t i = 0; i < entries.size(); ++i) {
            REQUIRE(std::memcmp(&entries[i], &single[i], sizeof entries[i]) == 0);
        }
        reported += entries.size();
    }
    CHECK(reported > 40);
}

TEST_CASE("the stack identifies the task in User mode and in old kernels", "[linux]") {
    const bool in_register = GENERATE(true, false);
    FakeKernel kernel(Format::long_descriptors, other, in_register);
    kernel.boot();
    const std::uint32_t one = kernel.add(50, "one"), two = kernel.add(51, "two");
    TaskWatch watch(*find(kernel), 1'000'000);
    // SP_svc with an empty stack: the 8 bytes at its top are never used.
    auto entries = seen(watch, of_task(kernel.stack(one) + 0x1ff8, 5000, 0x10));
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].kind == trace::TaskKey::stack);
    CHECK(entries[0].key == kernel.stack(one));
    CHECK(entries[0].comm == std::string("one"));
    abi::Record record = of_task(in_register ? two : 0xb6f0'0000, 6000); // otherwise a thread's TLS
    record.sp = kernel.stack(two) + 0x100;
    entries = seen(watch, record);
    REQUIRE(entries.size() == (in_register ? 2 : 1));
    CHECK(entries[0].pid == 51);
    // The stack gets another task.
    kernel.set(one + kernel.at.stack, 0);
    const std::uint32_t three = kernel.add(52, "three");
    const std::uint32_t stack =
        entries[0].kind == trace::TaskKey::stack ? entries[0].key : kernel.stack(two);
    kernel.set(two + kernel.at.stack, 0);
    kernel.set(three + kernel.at.stack, stack);
    kernel.set(stack + (in_register ? 0 : thread_info_task), in_register ? 0x57ac'6e9d : three);
    entries = seen(watch, of_task(stack + 0x1ff8, 70000, 0x10));
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].pid == 52);
}

TEST_CASE("a value that is no task gets no entry and takes no memory", "[linux]") {
    FakeKernel kernel;
    kernel.boot();
    TaskWatch watch(*find(kernel), 1'000'000);
    std::minstd_rand random(7);
    for (unsigned i = 0; i < 100'000; ++i) {
        const auto any = static_cast<std::uint32_t>(random());
        REQUIRE(seen(watch, of_task(any << 4, i, i % 64 == 0 ? 0x10 : 0x13)).empty());
    }
}

TEST_CASE("events have their tasks", "[linux]") {
    FakeKernel kernel;
    kernel.boot();
    const std::uint32_t task = kernel.add(50, "driver");
    kernel.rename(task, "dri\x1bver");
    const symbols::FunctionTable functions({});
    Onlooker onlooker(kernel.memory(), 1'000'000, functions);
    const std::vector<std::byte> bytes = trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/serial")});
        for (int i = 0; i < 10; ++i) { // until the kernel is found
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            onlooker.see({}, {}, writer);
        }
        std::vector<abi::Record> records{of_task(task, 10'000), of_task(0x1234, 10'500),
                                         of_task(kernel.stack(task) + 0x1ff8, 11'000, 0x10)};
        onlooker.see(records, test::task_runs(records), writer);
        writer.append(records);
        kernel.rename(task, "other");
        records = {of_task(task, 20'000)};
        onlooker.see(records, test::task_runs(records), writer);
        writer.append(records);
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Naming naming(reader);
    const auto records = reader.next();
    REQUIRE(records.size() == 4);
    std::vector<const Task*> tasks;
    for (const abi::Record& record : records) {
        tasks.push_back(naming.event(record).task());
    }
    REQUIRE(tasks[0]);
    CHECK(tasks[0]->pid == 50);
    CHECK(tasks[0]->tgid == 50);
    CHECK(tasks[0]->comm == "dri?ver");
    CHECK(!tasks[1]);
    CHECK(tasks[2] == tasks[0]);
    REQUIRE(tasks[3]);
    CHECK(tasks[3]->comm == "other");
    CHECK(!naming.event(of_task(task, 9'999)).task()); // before the first look
}
