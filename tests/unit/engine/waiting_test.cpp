// A region's lock that is not released: the waiter reports its owner.
#include "catch_2_or_3.hpp"
#include "sim/guest_cpu.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t second = 50'000; // CNTFRQ

/// The machine after CPU 0 has booted, for code that acts as the guest.
struct Place {
    Rig& rig;
    Core& core;
    mmioscope::Cpu& cpu;
    std::uint32_t pc = core.frame.pc;

    std::uint64_t now() const { return rig.simulation.now(); }
    Lock& lock_at(std::uint64_t address) {
        return rig.machine->locks.of(rig.machine->map.find({address})->region).lock;
    }
    void take(unsigned other_cpu, std::uint64_t address) {
        std::uint64_t spins = 0;
        REQUIRE(lock_at(address).try_acquire(other_cpu, 16, spins));
    }
    /// `instruction` at pc traps, with this HSR.
    void trap(std::uint32_t instruction, std::uint32_t hsr, std::uint32_t address) {
        core.frame.pc = pc;
        Code(rig.simulation.ram, pc).word(instruction);
        core.system.set<reg::HSR>(hsr);
        core.system.set<reg::HDFAR>(address);
        core.system.set<reg::HPFAR>(address >> 12 << 4);
        rig.simulation.synchronize(core);
        mmioscope_guest_trap(cpu, core.frame);
    }
    /// ldr r1, [r0]
    void load(std::uint32_t address) {
        core.frame.r[0] = address;
        trap(0xe590'1000, 0x9381'0007, address);
    }
    /// `count` loads, by whatever path.
    std::uint64_t slow_traps_of_loads(unsigned count, std::uint32_t address) {
        Code code(rig.simulation.ram, core.frame.pc);
        code.mov(0, address);
        for (unsigned n = 0; n < count; ++n) code.ldr(1, 0);
        code.end();
        core.ended = false;
        const std::uint64_t before = rig.simulation.slow_traps;
        GuestCpu(rig.simulation, core, cpu).run();
        return rig.simulation.slow_traps - before;
    }
    /// strex r4, r2, [r0]
    void store_exclusive(std::uint32_t address) {
        core.frame.r[0] = address;
        trap(0xe180'4f92, 0x9200'0047, address);
    }
    /// ldm r0, {r1, r2}
    void load_two(std::uint32_t address) {
        core.frame.r[0] = address;
        trap(0xe890'0006, 0x9200'0007, address);
    }
};

/// Boots with the emulation engine and runs `action` as the guest. Returns the resulting faults.
std::vector<abi::Record> faults_of(std::function<void(Place&)> action) {
    RigOptions options = options_for(abi::EngineKind::emulation, 1, 1);
    options.conditions.steps_per_tick = 1;
    options.conditions.exclusives_fail_one_in = 0; // the fast path tries a lock once
    Rig rig(options);
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        core.system.set<reg::CNTFRQ>(second);
        Place place{rig, core, cpu};
        action(place);
    });
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    return rig.records_of(abi::RecordType::fault);
}

template <class Try>
void wait(Place& place, std::uint64_t ticks, Try&& again) {
    const std::uint64_t until = place.now() + ticks;
    while (place.now() < until) again();
}

bool names(const abi::Record& fault, unsigned owner) {
    return fault.value == (std::uint64_t{owner} << 8 | 9);
}

} // namespace

TEST_CASE("a lock not released for two seconds is reported once, with its holder") {
    std::uint64_t began = 0;
    std::uint32_t pc = 0;
    std::uint16_t region = 0;
    const auto faults = faults_of([&](Place& place) {
        place.take(1, at::fifo);
        pc = place.pc;
        region = place.rig.machine->map.find({at::fifo})->region;
        began = place.now();
        wait(place, 5 * second, [&] { place.load(at::fifo + 8); });
        CHECK(place.core.frame.pc == pc); // it keeps trying,
        place.lock_at(at::fifo).release();
        place.load(at::fifo);
        CHECK(place.core.frame.pc == pc + 4); // until the end,
        place.take(2, at::fifo);              // and the next wait is a new one
        wait(place, 3 * second, [&] { place.load(at::fifo); });
    });
    REQUIRE(faults.size() == 2);
    CHECK(faults[0].time >= began + 2 * second);
    CHECK(faults[0].time <= began + 3 * second);
    CHECK(names(faults[0], 1));
    CHECK(faults[0].pc == pc);
    CHECK(faults[0].va == at::fifo + 8);
    CHECK(abi::physical_address(faults[0]) == at::fifo + 8);
    CHECK(abi::access_size(faults[0]) == 4);
    CHECK(!abi::is_write(faults[0]));
    CHECK(faults[0].device == region);
    CHECK(names(faults[1], 2));
}

TEST_CASE("accesses of an interrupt handler to another device do not end the wait") {
    const auto faults = faults_of([](Place& place) {
        place.take(1, at::fifo);
        wait(place, 5 * second, [&] {
            place.load(at::fifo);
            place.load(at::wide);
            CHECK(place.core.frame.pc == place.pc + 4);
        });
    });
    REQUIRE(faults.size() == 1);
    CHECK(names(faults[0], 1));
}

TEST_CASE("a CPU that waits for one lock has its other accesses on the fast path") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    RigOptions options = options_for(engine, 1, 1);
    options.conditions.exclusives_fail_one_in = 0;
    Rig rig(options);
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        Place place{rig, core, cpu};
        place.take(1, at::fifo);
        place.load(at::fifo); // and the guest never tries again: its thread was stopped
        CHECK(place.slow_traps_of_loads(100, at::wide + 4) <= 2); // one access, until it is open
        place.lock_at(at::fifo).release();
    });
    rig.program(0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.bus_log(at::wide, 8).size() == 100);
}

TEST_CASE("a lock released in time is not reported, however long it is contended", "[protocol]") {
    CHECK(faults_of([](Place& place) {
              for (unsigned owner = 1; owner < 6; ++owner) { // from hand to hand
                  place.take(owner, at::fifo);
                  wait(place, second, [&] { place.load(at::fifo); });
                  place.lock_at(at::fifo).release();
              }
              for (unsigned round = 0; round < 5; ++round) { // one CPU, with an access each time
                  place.take(1, at::fifo);
                  const std::uint16_t region = place.rig.machine->map.find({at::fifo})->region;
                  ++place.rig.machine->locks.of(region).sequence;
                  wait(place, second, [&] { place.load(at::fifo); });
                  place.lock_at(at::fifo).release();
              }
          }).empty());
    CHECK(faults_of([](Place& place) { // this CPU had it, on the fast path
              for (unsigned round = 0; round < 5; ++round) {
                  place.take(1, at::fifo);
                  wait(place, second, [&] { place.load(at::fifo); });
                  place.lock_at(at::fifo).release();
                  CHECK(place.slow_traps_of_loads(2, at::fifo + 8) <= 1);
              }
          })
              .empty());
    CHECK(faults_of([](Place& place) { // this CPU had it, but made no access
              for (unsigned round = 0; round < 5; ++round) {
                  place.take(1, at::fifo);
                  wait(place, second, [&] { place.load(at::fifo); });
                  place.lock_at(at::fifo).release();
                  place.store_exclusive(at::fifo);
                  CHECK(place.core.frame.pc == place.pc + 4);
                  CHECK(place.core.frame.r[4] == 1);
              }
          })
              .empty());
}

TEST_CASE("a store-exclusive that waits is reported, and of several accesses the one that waits") {
    const auto exclusive = faults_of([](Place& place) {
        place.take(3, at::wide);
        wait(place, 3 * second, [&] { place.store_exclusive(at::wide + 4); });
    });
    REQUIRE(exclusive.size() == 1);
    CHECK(names(exclusive[0], 3));
    CHECK(abi::is_write(exclusive[0]));
    CHECK(exclusive[0].va == at::wide + 4);

    std::uint16_t region = 0;
    const auto several = faults_of([&](Place& place) {
        place.take(1, at::neighbour);
        region = place.rig.machine->map.find({at::neighbour})->region;
        wait(place, 3 * second, [&] { place.load_two(at::neighbour - 4); });
    });
    REQUIRE(several.size() == 1);
    CHECK(names(several[0], 1));
    CHECK(several[0].device == region);
    CHECK(several[0].va == at::neighbour);
    CHECK(abi::physical_address(several[0]) == at::neighbour);
}

TEST_CASE("a CPU that keeps a lock for seconds is named, and the waiting guest continues") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    RigOptions options = options_for(engine, 2, 3);
    options.conditions.steps_per_tick = 1;
    options.conditions.interrupt_one_in = 50;
    Rig rig(options);
    write_hammer(rig.program(1), 20);
    rig.on_end(0, [&](Core&, mmioscope::Cpu&) {
        Lock& lock = rig.machine->locks.of(rig.machine->map.find({at::fifo})->region).lock;
        std::uint64_t spins = 0;
        while (!lock.try_acquire(0, 16, spins)) {
        }
        rig.simulation.cores[1].system.set<reg::CNTFRQ>(second);
        const std::uint64_t until = rig.simulation.now() + 5 * second;
        while (rig.simulation.now() < until) rig.simulation.point();
        lock.release();
        rig.simulation.complete_system();
    });
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[1].ended);
    CHECK(compare_with_bus(rig) == "");
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].cpu == 1);
    CHECK(names(faults[0], 0));
    CHECK(abi::physical_address(faults[0]) >> 12 == at::fifo >> 12);
}
