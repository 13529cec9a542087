// The end of the machine while other CPUs make accesses.
#include "arch/psci.hpp"
#include "catch_2_or_3.hpp"
#include "engine/engine.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t cfgctrl = at::sysreg + 0xa4;
constexpr std::uint32_t off = 0xc080'0000, reset = 0xc090'0000;
constexpr unsigned cpus = 3;

RigOptions options(abi::EngineKind engine, std::uint64_t seed) {
    RigOptions options = options_for(engine, cpus, seed);
    options.conditions.step_limit = 20'000'000;
    return options;
}

/// All CPUs but CPU 0 store two words at a time.
void write_programs(Rig& rig) {
    for (unsigned n = 1; n < cpus; ++n) {
        Code code = rig.program(n);
        code.mov(0, at::fifo).mov(4, 1).mov(5, 2);
        for (unsigned i = 0; i < 15; ++i) code.strd(4, 0);
        code.end();
    }
}

void be_quick(Rig& rig) {
    for (Core& core : rig.simulation.cores) core.system.set<reg::CNTFRQ>(5'000);
}

std::size_t accesses_of(const Rig& rig, unsigned cpu) {
    const auto log = rig.bus_log(at::fifo, 0x1000);
    return static_cast<std::size_t>(std::count_if(
        log.begin(), log.end(), [cpu](const BusAccess& access) { return access.cpu == cpu; }));
}

/// Each access of CPUs 1 and 2 so far has its record, and neither is in the middle of one.
bool nothing_in_flight(const Rig& rig) {
    bool none = true;
    for (unsigned n = 1; n < cpus; ++n) {
        const abi::RingHeader& ring = rig.ring(n);
        const auto* slots = reinterpret_cast<const abi::Record*>(&ring + 1);
        const auto records = std::count_if(slots, slots + ring.head, [](const abi::Record& record) {
            return record.type == abi::RecordType::access;
        });
        // A CPU that starts publishes an event, which is no access.
        const bool in_access = ring.in_flight != abi::InFlight::none &&
                               ring.in_flight_pa >= at::fifo && ring.in_flight_pa < at::fifo + 8;
        none &= !in_access && static_cast<std::size_t>(records) == accesses_of(rig, n);
    }
    return none;
}

void call(Core& core, mmioscope::Cpu& cpu, psci::Function function) {
    cpu.machine->config.conduit = psci::Conduit::hvc;
    cpu.machine->calls.clear();
    REQUIRE(cpu.machine->calls.push_back({psci::Conduit::hvc, 0, &firmware_calls}));
    core.frame.r[0] = static_cast<std::uint32_t>(function);
    core.frame.pc += 4;
    core.system.set<reg::HSR>(0x12u << 26);
    mmioscope_guest_trap(cpu, core.frame);
    core.system.settle(); // the ERET
}

} // namespace

TEST_CASE("no access is without its record when firmware ends the machine", "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const auto function = GENERATE(psci::Function::system_off, psci::Function::system_reset);
    for (std::uint64_t seed = 1; seed <= seeds(4); ++seed) {
        CAPTURE(seed);
        Rig rig(options(engine, seed));
        write_programs(rig);
        rig.program(0).end();
        unsigned ends = 0;
        bool nothing = true;
        rig.simulation.firmware = [&](const FirmwareCall&) {
            ++ends;
            const std::size_t before = rig.bus_log(at::fifo, 0x1000).size();
            for (unsigned n = 0; n < 300; ++n) { // in which firmware ends the machine
                nothing &= nothing_in_flight(rig);
                rig.simulation.point();
            }
            nothing &= rig.bus_log(at::fifo, 0x1000).size() == before;
            return psci::not_supported;
        };
        rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
            rig.services.integrity = {}; // the conduit is sealed
            for (unsigned n = 0; n < 50 * (seed % 8); ++n) rig.simulation.point();
            call(core, cpu, function);
            CHECK(core.frame.r[0] == psci::not_supported);
            CHECK(!cpu.locks.holds_others());
        });
        rig.run();
        REQUIRE(rig.failure() == "");
        CHECK(rig.text().find("stop") == std::string::npos);
        CHECK(ends == 1);
        CHECK(nothing);
        CHECK(rig.bus_log(at::fifo, 0x1000).size() == 2 * 15 * 2); // the guest went on
        CHECK(rig.records_of(abi::RecordType::fault).empty());
    }
}

TEST_CASE("no access is without its record when a register ends the machine", "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const std::uint32_t how = GENERATE(off, reset);
    const bool among_others = GENERATE(false, true); // the last word of an STM
    CAPTURE(engine, how, among_others);
    for (std::uint64_t seed = 1; seed <= seeds(4); ++seed) {
        CAPTURE(seed);
        Rig rig(options(engine, seed));
        write_programs(rig);
        Code first = rig.program(0);
        first.mov(0, at::fifo).mov(2, cfgctrl).mov(3, 0).mov(4, 0).mov(5, how).mov(6, cfgctrl - 8);
        for (unsigned n = 0; n < seed % 6; ++n) first.ldr(1, 0);
        (among_others ? first.stm(6, 1 << 3 | 1 << 4 | 1 << 5) : first.str(5, 2)).end();
        rig.simulation.bus.attach({at::sysreg, at::sysreg + 0x1000}, std::make_unique<Scratch>());
        unsigned ends = 0;
        bool nothing = true;
        std::uint64_t written = 0, next = 0;
        rig.simulation.bus.on_arrival = [&](const BusAccess& access) {
            if (access.address == cfgctrl && access.write) {
                ++ends;
                nothing &= nothing_in_flight(rig);
                written = rig.simulation.now();
            } else if (ends != 0 && next == 0 && access.address - at::fifo < 8) {
                next = rig.simulation.now();
            }
        };
        be_quick(rig);
        rig.run();
        REQUIRE(rig.failure() == "");
        CHECK(ends == 1);
        CHECK(nothing);
        if (next != 0) CHECK(next - written > 3'500); // most of the second in which it ends
        CHECK(rig.machine->cpus[0].locks.holds_others() == false);
        REQUIRE(compare_with_bus(rig) == "");
    }
}

TEST_CASE("an access that never ends does not keep the machine from its end", "[protocol]") {
    const bool by_firmware = GENERATE(false, true);
    Rig rig(options(abi::EngineKind::shadow, 1));
    for (unsigned n = 0; n < cpus; ++n) rig.program(n).end();
    bool ended = false;
    rig.simulation.firmware = [&](const FirmwareCall&) {
        ended = true;
        CHECK(!rig.machine->cpus[0].locks.holds_others());
        return psci::not_supported;
    };
    rig.simulation.bus.attach({at::sysreg, at::sysreg + 0x1000}, std::make_unique<Scratch>());
    rig.simulation.bus.on_arrival = [&](const BusAccess& access) {
        ended |= access.address == cfgctrl && access.write;
    };
    be_quick(rig);
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        std::uint64_t spins = 0;
        rig.services.integrity = {};
        Machine& machine = *rig.machine;
        Owner& lost = machine.locks.of(machine.map.find({at::fifo})->region);
        REQUIRE(lost.lock.try_acquire(1, 100, spins));
        if (by_firmware) {
            call(core, cpu, psci::Function::system_off);
        } else {
            core.frame.r[1] = off;
            core.system.set<reg::HSR>(0x9381'0047); // a store of the word in r1
            core.system.set<reg::HDFAR>(cfgctrl);
            core.system.set<reg::HPFAR>(cfgctrl >> 12 << 4);
            mmioscope_guest_trap(cpu, core.frame);
            if (cpu.step.armed) { // the guest stores, and comes back
                rig.simulation.device_access(
                    {.address = cfgctrl, .value = off, .log2_size = 2, .write = true});
                core.frame.pc = cpu.step.stop;
                core.system.set<reg::HSR>(0x8200'0022);
                mmioscope_guest_trap(cpu, core.frame);
            }
        }
        CHECK(!cpu.locks.holds_others());
        CHECK(!machine.locks.of(0).lock.held());
        lost.lock.release();
    });
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(ended);
}
