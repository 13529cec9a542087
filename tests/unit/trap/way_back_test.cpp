// What stops the machine before an ERET into the guest: made by hand, since no program does it.
#include "bringup/bringup.hpp"
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

using Action = std::function<void(Rig&, mmioscope::Cpu&)>;

bool says(const Rig& rig, const std::string& why) {
    return rig.text().find("mmioscope: stop: " + why + " on CPU 0\r\n") != std::string::npos;
}

/// Makes CPU 0 trap for a call that nobody answers, after `action`. Returns whether the machine
/// stops, with `why` if any is given.
bool stops_behind(Action action, const std::string& why,
                  abi::EngineKind engine = abi::EngineKind::shadow) {
    Rig rig(options_for(engine, 1, 1));
    bool back = false;
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        action(rig, cpu);
        core.system.set<reg::HSR>(0x12u << 26); // HVC: undefined on this board
        mmioscope_guest_trap(cpu, core.frame);
        back = true;
    });
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(back == !says(rig, why));
    return !back;
}

void take_a_lock(Rig& rig, mmioscope::Cpu& cpu) {
    std::uint64_t spins = 0;
    REQUIRE(cpu.locks.acquire(rig.machine->locks.of(0), cpu.number, spins));
}

constexpr auto no_baseline = {abi::EngineKind::shadow, abi::EngineKind::emulation};

} // namespace

TEST_CASE("no return to the guest in a shadow view without a step") {
    const auto engine = GENERATE(values(no_baseline));
    CHECK(!stops_behind([](Rig&, mmioscope::Cpu&) {}, "any", engine));
    CHECK(stops_behind([](Rig&, mmioscope::Cpu& cpu) { cpu.view.enter(*cpu.shadow); },
                       "view and step disagree", engine));
    CHECK(!stops_behind(
        [](Rig&, mmioscope::Cpu& cpu) {
            cpu.view.enter(*cpu.shadow);
            cpu.view.enter(*cpu.normal);
        },
        "any", engine));
}

TEST_CASE("no return to the guest with a lock held and no step") {
    const auto engine = GENERATE(values(no_baseline));
    CHECK(stops_behind(take_a_lock, "lock and step disagree", engine));
    CHECK(!stops_behind(
        [](Rig& rig, mmioscope::Cpu& cpu) {
            take_a_lock(rig, cpu);
            cpu.locks.release();
        },
        "any", engine));
}

TEST_CASE("no return to the guest with another table in VTTBR than the view says") {
    const auto other = [](Rig& rig, mmioscope::Cpu&) {
        port::write<reg::VTTBR>(1ull << 48 | rig.machine->shadow(0).root().value);
        port::synchronize_context();
    };
    for (const auto engine : no_baseline)
        CHECK(stops_behind(other, "unexpected value of VTTBR", engine));
}

TEST_CASE("no return under the baseline with a lock or a shadow view but without a step") {
    constexpr auto baseline = abi::EngineKind::unprotect;
    CHECK(!stops_behind([](Rig&, mmioscope::Cpu&) {}, "any", baseline));
    CHECK(stops_behind([](Rig&, mmioscope::Cpu& cpu) { cpu.view.enter(*cpu.shadow); },
                       "view and step disagree", baseline));
    CHECK(stops_behind(take_a_lock, "lock and step disagree", baseline));
}

TEST_CASE("no first entry into the guest with a lock held") {
    Rig rig(options_for(abi::EngineKind::shadow, 2, 1));
    bool entered = false;
    SECTION("by the CPU that boots") {
        bool taken = false; // while the boot prints its line
        rig.simulation.bus.on_arrival = [&](const BusAccess& access) {
            if (access.address != at::own_uart || std::exchange(taken, true)) return;
            take_a_lock(rig, rig.machine->cpus[0]);
        };
        rig.on_end(0, [&](Core&, mmioscope::Cpu&) { entered = true; });
        rig.run();
        CHECK(taken);
    }
    SECTION("by a CPU that the guest starts") {
        Code(rig.simulation.ram, at::kernel).end(); // CPU 1 does nothing
        rig.on_end(0, [&](Core&, mmioscope::Cpu&) { // CPU 0 acts as CPU 1 here
            for (unsigned n = 0; n < 10'000; ++n) rig.simulation.scheduler.point();
            mmioscope::Cpu& other = rig.machine->cpus[1];
            take_a_lock(rig, other);
            rig.machine->power.prepare(1, CpuPower::off, {at::kernel, 0});
            start_by_firmware(*rig.machine, other);
            entered = true;
        });
        rig.run();
    }
    CHECK(rig.failure() == "");
    CHECK(!entered);
    CHECK(says(rig, "lock and step disagree"));
}
