// The names of the tasks that make accesses: read from the guest's memory, at the trap.
#include "abi/task_name.hpp"
#include "arch/psr.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"

#include "catch_2_or_3.hpp"
#include "sim/hyp_code.hpp"

#include <algorithm>
#include <cstring>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t second = 50'000; // CNTFRQ
constexpr std::uint32_t millisecond = second / 1000;
constexpr std::uint32_t comm = 0x3fc;
constexpr std::uint32_t pid = 0x2a0;
constexpr std::uint32_t task = 0x8020'0040;
constexpr std::uint32_t load = 0xe590'1000; // ldr r1, [r0]

/// The machine after CPU 0 has booted, for code that acts as the guest.
struct Place {
    Rig& rig;
    Core& core;
    mmioscope::Cpu& cpu;
    std::uint32_t pc = core.frame.pc;

    Ram& ram() { return rig.simulation.ram; }
    void is_called(std::uint32_t at, const char (&name)[17], std::uint32_t id,
                   std::uint32_t group) {
        std::memcpy(ram().at({at + comm}), name, 16);
        ram().store(at + pid, id);
        ram().store(at + pid + 4, group);
    }
    /// One access by `who`; the guest continues after it.
    void access(std::uint32_t who, std::uint32_t address = at::fifo + 4) {
        core.frame.pc = pc;
        Code(ram(), pc).word(load);
        core.system.set<reg::TPIDRURO>(who);
        core.system.set<reg::HSR>(0x9381'0007);
        core.system.set<reg::HDFAR>(address);
        core.system.set<reg::HPFAR>(address >> 12 << 4);
        rig.simulation.synchronize(core);
        run_hyp_code(rig.simulation, core, cpu, core.frame);
        CHECK(core.frame.pc == pc + 4);
    }
    void wait(std::uint64_t ticks) {
        for (const std::uint64_t until = rig.simulation.now() + ticks;
             rig.simulation.now() < until;)
            access(0);
    }
};

RigOptions options() {
    RigOptions options = options_for(abi::EngineKind::emulation, 1, 1);
    options.conditions.steps_per_tick = 1;
    options.tree.task_names = {comm, pid};
    return options;
}

/// Boots and runs `action` as the guest. Returns all records of the CPU. `whole`: each access has
/// one.
std::vector<abi::Record> records_of(const std::function<void(Place&)>& action,
                                    const RigOptions& how = options(), bool whole = true) {
    Rig rig(how);
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        core.system.set<reg::CNTFRQ>(second);
        Place place{rig, core, cpu};
        action(place);
    });
    rig.run();
    CHECK(rig.failure() == "");
    if (whole) CHECK(compare_with_bus(rig) == "");
    return rig.records(0);
}

std::vector<abi::Record> names_of(const std::function<void(Place&)>& action,
                                  const RigOptions& how = options(), bool whole = true) {
    std::vector<abi::Record> names = records_of(action, how, whole);
    std::erase_if(names, [](const abi::Record& r) { return r.type != abi::RecordType::task; });
    return names;
}

bool is(const abi::Record& r, const char* name, std::uint32_t id, std::uint32_t group) {
    const abi::TaskName said = abi::task_name(r);
    return std::strcmp(said.comm, name) == 0 && said.pid == id && said.tgid == group;
}

} // namespace

TEST_CASE("a task's name is reported before its first access", "[protocol]") {
    const auto records = records_of([](Place& place) {
        place.is_called(task, "kworker/0:1H\0\0\0\0", 1234, 77);
        for (unsigned i = 0; i < 3; ++i) place.access(task);
    });
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i].type == abi::RecordType::task) at.push_back(i);
    REQUIRE(at.size() == 1);
    const abi::Record& name = records[at[0]];
    CHECK(name.task == task);
    CHECK(is(name, "kworker/0:1H", 1234, 77));
    CHECK(name.device == abi::no_device);
    REQUIRE(at[0] + 3 < records.size());
    for (unsigned i = 1; i <= 3; ++i) {
        const abi::Record& access = records[at[0] + i];
        CHECK(access.type == abi::RecordType::access);
        CHECK(access.task == task);
        CHECK(access.cpu_sequence == name.cpu_sequence + i);
        CHECK(access.time >= name.time);
    }
}

TEST_CASE("a task that follows another task is named at once", "[protocol]") {
    constexpr std::uint32_t other = task + 0x1000;
    const auto records = records_of([](Place& place) {
        place.core.system.set<reg::CNTFRQ>(1000 * second); // one look is enough
        place.is_called(task, "first\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
        place.is_called(other, "second\0\0\0\0\0\0\0\0\0\0", 6, 6);
        for (unsigned i = 0; i < 3; ++i) place.access(task);
        place.access(other);
        place.access(task);
    });
    std::vector<std::uint32_t> named;
    for (const abi::Record& record : records) {
        if (record.type == abi::RecordType::task) named.push_back(record.task);
        if (record.type == abi::RecordType::access && record.task != 0)
            CHECK(std::find(named.begin(), named.end(), record.task) != named.end());
    }
    CHECK(named == std::vector{task, other});
}

TEST_CASE("no name is reported while a trigger holds back the records") {
    const auto said = [](bool starts, bool disarmed) {
        const auto accesses = [=](Place& place) {
            auto& choice = dynamic_cast<Choice&>(*place.cpu.machine->chooser);
            choice.any = true;
            choice.trigger.arm(starts, starts ? 100 : 1, 0);
            place.access(0); // stops the records
            place.is_called(task, "held\0\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
            place.access(task);
            if (!disarmed) return;
            choice.trigger.disarm();
            place.access(task);
        };
        return names_of(accesses, options(), false);
    };
    CHECK(said(true, false).empty());
    CHECK(said(false, false).empty());
    CHECK(said(true, true).size() == 1);
    CHECK(said(false, true).size() == 1);
}

TEST_CASE("a new name is reported within a millisecond, and each name again after a second",
          "[protocol]") {
    const auto names = names_of([](Place& place) {
        place.is_called(task, "first\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
        place.access(task);
        place.is_called(task, "second\0\0\0\0\0\0\0\0\0\0", 5, 5);
        place.access(task); // nobody reads it yet
        place.wait(2 * millisecond);
        place.access(task);
        place.is_called(task, "second\0\0\0\0\0\0\0\0\0\0", 6, 5);
        place.wait(2 * millisecond);
        place.access(task);
        place.wait(second / 2);
        place.access(task); // it is known
        place.wait(second);
        place.access(task);
    });
    REQUIRE(names.size() == 4);
    CHECK(is(names[0], "first", 5, 5));
    CHECK(is(names[1], "second", 5, 5));
    CHECK(names[1].time - names[0].time >= millisecond);
    CHECK(is(names[2], "second", 6, 5));
    CHECK(is(names[3], "second", 6, 5));
    CHECK(names[3].time - names[2].time >= second);
}

TEST_CASE("the fast path leaves a task that goes on to the slow path once in a millisecond",
          "[protocol]") {
    constexpr std::uint64_t rounds = 100, ticks = 200; // of a millisecond: some 3 accesses
    const auto names = names_of([&](Place& place) {
        place.core.system.set<reg::CNTFRQ>(1000 * ticks);
        place.is_called(task, "first\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
        place.access(task);
        const std::uint64_t start = place.rig.simulation.now();
        const std::uint64_t slow = place.rig.simulation.slow_traps;
        std::uint64_t accesses = 0;
        const auto goes_on = [&](std::uint64_t until) {
            for (; place.rig.simulation.now() < start + until * ticks; ++accesses)
                place.access(task);
        };
        goes_on(rounds / 2);
        place.is_called(task, "second\0\0\0\0\0\0\0\0\0\0", 5, 5);
        goes_on(rounds);
        const std::uint64_t taken = place.rig.simulation.slow_traps - slow;
        CAPTURE(taken, accesses);
        CHECK(taken >= rounds / 2); // one in 16 loses the monitor at the lock, too
        CHECK(taken <= accesses / 2);
    });
    REQUIRE(names.size() == 2);
    CHECK(is(names[0], "first", 5, 5));
    CHECK(is(names[1], "second", 5, 5));
}

TEST_CASE("a task is not read again within a millisecond") {
    const auto names = names_of([](Place& place) {
        place.core.system.set<reg::CNTFRQ>(1'000'000'000); // longer than all this
        place.is_called(task, "first\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
        place.access(task);
        place.is_called(task, "second\0\0\0\0\0\0\0\0\0\0", 5, 5);
        for (unsigned i = 0; i < 10; ++i) place.access(task);
    });
    REQUIRE(names.size() == 1);
    CHECK(is(names[0], "first", 5, 5));
}

TEST_CASE("more tasks than a CPU remembers all get their names") {
    constexpr unsigned many = 300;
    const auto names = names_of([](Place& place) {
        for (unsigned round = 0; round < 2; ++round)
            for (unsigned n = 0; n < many; ++n) {
                const std::uint32_t at = task + n * 0x1100;
                place.is_called(at, "one of many\0\0\0\0\0", n + 1, n + 1);
                place.access(at);
            }
    });
    std::vector<bool> said(many);
    for (const abi::Record& name : names) {
        const std::uint32_t n = (name.task - task) / 0x1100;
        REQUIRE(n < many);
        CHECK(is(name, "one of many", n + 1, n + 1));
        said[n] = true;
    }
    CHECK(said == std::vector<bool>(many, true));
}

TEST_CASE("a value that is no task has no name and no effect") {
    const auto names = names_of([](Place& place) {
        const Machine& machine = *place.rig.machine;
        const auto own = static_cast<std::uint32_t>(machine.own_memory.begin);
        const std::uint32_t end = 0x8000'0000 + (64 << 20);
        for (const std::uint32_t who : {0u,
                                        1u,
                                        task + 1,
                                        task + 2,
                                        own,
                                        own - comm,
                                        own - comm - 8,
                                        own - pid,
                                        own - pid - 4,
                                        own + abi::area_offset,
                                        end,
                                        end - comm,
                                        end - comm - 12,
                                        end - pid - 4,
                                        at::fifo,
                                        at::fifo - comm,
                                        at::fifo - pid,
                                        at::own_uart - comm,
                                        at::unnamed,
                                        0xffff'fffcu,
                                        0u - comm,
                                        0u - pid,
                                        0x7fff'fffcu - comm,
                                        0xdead'beecu})
            place.access(who);
        // If the guest's data is nonsense.
        place.is_called(task, "16 characters...", 5, 5);
        place.access(task);
        place.is_called(task + 0x1000, "name\0\0\0\0\0\0\0\0\0\0\0\0", 0x40'0000, 5);
        place.access(task + 0x1000);
        place.is_called(task + 0x2000, "name\0\0\0\0\0\0\0\0\0\0\0\0", 5, 0xffff'ffff);
        place.access(task + 0x2000);
        // TPIDRURO of a process.
        place.is_called(task + 0x3000, "name\0\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
        const std::uint32_t psr = place.core.frame.psr;
        place.core.frame.psr = (psr & ~0x1fu) | static_cast<std::uint32_t>(arch::Mode::usr);
        place.access(task + 0x3000);
        place.core.frame.psr = psr;
    });
    CHECK(names.empty());
}

TEST_CASE("task names are read only if the tree has the offsets") {
    RigOptions how = options();
    how.tree.task_names = {};
    CHECK(names_of(
              [](Place& place) {
                  place.is_called(task, "name\0\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
                  place.access(task);
              },
              how)
              .empty());
}

TEST_CASE("a task's memory is found with the guest's own tables") {
    constexpr std::uint32_t first_level = 0x8030'0000;
    constexpr std::uint32_t second_level = 0x8030'4000;
    constexpr std::uint32_t window = 0xd000'0000;
    constexpr std::uint32_t split = window + 0x1000 - comm - 8; // its name crosses two pages
    const auto names = names_of([&](Place& place) {
        constexpr std::uint32_t section = 0xc02; // full access
        for (const std::uint32_t begin : {0x8000'0000u, 0x1c00'0000u})
            for (std::uint32_t i = 0; i < 0x20; ++i) {
                const std::uint32_t va = begin + (i << 20);
                place.ram().store<std::uint32_t>(first_level + (va >> 20 << 2), va | section);
            }
        constexpr std::uint32_t page = 0x32; // small, full access
        const std::uint32_t entry = second_level;
        place.ram().store<std::uint32_t>(first_level + (window >> 20 << 2), second_level | 1);
        place.ram().store<std::uint32_t>(entry, 0x8041'0000 | page);
        place.ram().store<std::uint32_t>(entry + 4, 0x8043'0000 | page);
        place.ram().store<std::uint32_t>(entry + 8, at::fifo | page);
        std::memcpy(place.ram().at({0x8041'0ff8}), "in two p", 8);
        std::memcpy(place.ram().at({0x8043'0000}), "ages\0\0\0\0", 8);
        place.ram().store<std::uint32_t>(0x8041'0000 + (split - window) + pid, 9);
        place.ram().store<std::uint32_t>(0x8041'0000 + (split - window) + pid + 4, 9);
        place.core.system.set<reg::TTBR0>(first_level);
        place.core.system.set<reg::SCTLR>(0x00c5'0079);
        place.core.tlb.forget({.what = Invalidation::What::everything});
        place.access(split);
        place.access(split + 0x1000); // half of its name is in a device
        place.access(split + 0x2000); // all of it is in an unmapped page
        place.core.system.set<reg::SCTLR>(0x00c5'0078);
    });
    REQUIRE(names.size() == 1);
    CHECK(names[0].task == split);
    CHECK(is(names[0], "in two pages", 9, 9));
}

TEST_CASE("a name leaves room for a load-exclusive and its store-exclusive") {
    RigOptions how = options();
    how.tree.slow_path = true;
    records_of(
        [&](Place& place) {
            const std::uint32_t tasks[] = {task, task + 0x1000};
            for (const std::uint32_t one : tasks)
                place.is_called(one, "name\0\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
            while (place.cpu.ring.has_room(3)) place.access(0);
            const abi::RingHeader& ring = place.rig.ring(0);
            const std::uint64_t before = ring.head;
            DeviceAccess& access = place.cpu.trapped.access;
            access = {{.recorded = true}};
            for (const bool exclusive : {true, false}) {
                access.exclusive = exclusive;
                place.core.system.set<reg::TPIDRURO>(tasks[exclusive ? 0 : 1]);
                place.rig.simulation.synchronize(place.core);
                place.rig.services.task_names.before(place.cpu, place.core.frame);
                place.rig.simulation.complete_system();
                CHECK(ring.head == before + (exclusive ? 0 : 1));
            }
        },
        how);
}

TEST_CASE("a name does not take the room of an access in the ring") {
    const bool slow = GENERATE(true, false);
    for (const bool pre : {false, true}) {
        CAPTURE(pre, slow);
        RigOptions how = options();
        how.tree.pre = pre;
        how.tree.slow_path = slow;
        std::uint32_t filled = 0;
        const auto records = records_of(
            [&](Place& place) {
                place.is_called(task, "name\0\0\0\0\0\0\0\0\0\0\0\0", 5, 5);
                while (place.cpu.ring.has_room(pre ? 3 : 2)) place.access(0);
                filled = place.cpu.ring.statistics().emulated;
                // The fast path may use up the room that has_room() still sees.
                if (slow) place.access(task);
            },
            how);
        REQUIRE(filled > 100);
        CHECK(records.back().type == abi::RecordType::access);
        CHECK(records.back().task == (slow ? task : 0));
        CHECK(std::none_of(records.begin(), records.end(), [](const abi::Record& r) {
            return r.type == abi::RecordType::task || r.type == abi::RecordType::gap;
        }));
    }
}
