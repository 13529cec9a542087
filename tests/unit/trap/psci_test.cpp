// PSCI (Arm DEN 0022): the guest's calls, answered with the firmware below.
#include "arch/psci.hpp"
#include "bringup/bringup.hpp"
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;
using psci::Conduit;
using psci::Function;

namespace {

constexpr std::uint32_t hvc = 0x12u << 26;
constexpr std::uint32_t smc = 0x13u << 26;
constexpr std::uint32_t entry = 0x8001'0001;
constexpr std::uint32_t context = 0xc0c0;

/// The guest's calls and the calls to the firmware, on a machine with `conduit`.
struct Bench {
    Rig rig{options_for(abi::EngineKind::shadow, 2, 1)};
    std::vector<FirmwareCall> asked;
    std::uint32_t answer{psci::success};
    psci::NamedFunctions named{};

    /// Runs `action` on CPU 0 when it is in the guest.
    void run(Conduit conduit, std::function<void(Core&, mmioscope::Cpu&)> action) {
        rig.simulation.firmware = [this](const FirmwareCall& call) {
            asked.push_back(call);
            return answer;
        };
        Code(rig.simulation.ram, at::kernel).end(); // CPU 1 does nothing
        rig.on_end(0, [this, conduit, action](Core& core, mmioscope::Cpu& cpu) {
            rig.machine->config.conduit = conduit;
            rig.machine->calls.clear();
            REQUIRE(rig.machine->calls.push_back({conduit, 0, &firmware_calls}));
            rig.machine->config.psci_functions = named;
            rig.services.integrity = {};
            if (rig.services.integrity.start(*rig.machine, rig.setup))
                throw Failure{"no room for the checksums"};
            action(core, cpu);
        });
        rig.run();
    }
    std::uint32_t call(Core& core, mmioscope::Cpu& cpu, Function function, std::uint32_t a = 0,
                       std::uint32_t b = 0, std::uint32_t c = 0, std::uint32_t how = hvc) {
        core.frame.r[0] = static_cast<std::uint32_t>(function);
        core.frame.r[1] = a;
        core.frame.r[2] = b;
        core.frame.r[3] = c;
        if (how == hvc) core.frame.pc += 4;
        core.system.set<reg::HSR>(how);
        mmioscope_guest_trap(cpu, core.frame);
        return core.frame.r[0];
    }
    void requires_success() const { REQUIRE(rig.failure() == ""); }
    void damage(std::uint64_t address) { *rig.simulation.ram.at({address}) ^= std::byte{1}; }
    bool found_damage() const {
        return rig.text().find("stop: the hypervisor's memory was changed") != std::string::npos;
    }
};

} // namespace

TEST_CASE("a PSCI call returns after itself, and works only by the tree's conduit") {
    const bool by_smc = GENERATE(false, true);
    Bench bench;
    bench.answer = 0x1'0001;
    bench.run(by_smc ? Conduit::smc : Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        const std::uint32_t pc = core.frame.pc;
        const std::uint32_t r[] = {core.frame.r[1], core.frame.r[4]};
        CHECK(bench.call(core, cpu, Function::version, r[0], 0, 0, by_smc ? smc : hvc) == 0x1'0001);
        CHECK(core.frame.pc == pc + 4);
        CHECK(core.frame.r[4] == r[1]);
        bench.call(core, cpu, Function::version, 0, 0, 0, by_smc ? hvc : smc);
        CHECK(core.banked.at(static_cast<unsigned>(port::Banked::lr_und)) == pc + 4 + 4);
        CHECK(arch::mode_of(core.frame.psr) == arch::Mode::und);
    });
    bench.requires_success();
    CHECK(bench.asked.size() == 1);
}

TEST_CASE("CPU_ON sends the CPU to the hypervisor, which sends it where the guest said") {
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        REQUIRE(bench.call(core, cpu, Function::cpu_on, 1, entry, context) == psci::success);
        REQUIRE(bench.asked.size() == 1);
        CHECK(bench.asked[0].argument[0] == 1);
        CHECK(bench.asked[0].argument[1] == cpu_on_entry);
        CHECK(bench.call(core, cpu, Function::cpu_on, 1, 1, 1) == psci::on_pending);
        const StartPoint at = bench.rig.machine->power.arrive(1);
        CHECK(at.entry == entry);
        CHECK(at.context == context);
        CHECK(bench.call(core, cpu, Function::cpu_on, 1, 1, 1) == psci::already_on);
        CHECK(bench.call(core, cpu, Function::cpu_on, 0, 1, 1) == psci::already_on);
        CHECK(bench.call(core, cpu, Function::cpu_on, 2, 1, 1) == psci::invalid_parameters);
        CHECK(bench.call(core, cpu, Function::cpu_on, 0x101, 1, 1) == psci::invalid_parameters);
        CHECK(bench.call(core, cpu, Function::cpu_on, 0x1'0001, 1, 1) == psci::invalid_parameters);
        CHECK(bench.call(core, cpu, Function::cpu_on, 0x8000'0001, 1, 1) ==
              psci::invalid_parameters);
        CHECK(bench.asked.size() == 1);
    });
    bench.requires_success();
}

TEST_CASE("CPU_ON of a CPU in another cluster goes to the firmware by its affinity") {
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        cpu.machine->clusters = {1, 0, 1, 3};
        CHECK(bench.call(core, cpu, Function::cpu_on, 1, entry, context) ==
              psci::invalid_parameters);
        CHECK(bench.call(core, cpu, Function::cpu_on, 0x300, entry, context) == psci::success);
        REQUIRE(bench.asked.size() == 1);
        CHECK(bench.asked[0].argument[0] == 0x300);
        CHECK(bench.rig.machine->power.arrive(1).entry == entry);
    });
    bench.requires_success();
}

TEST_CASE("a CPU that the firmware refuses to start can be started later") {
    Bench bench;
    constexpr auto internal_failure = static_cast<std::uint32_t>(-6);
    bench.answer = internal_failure;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        CHECK(bench.call(core, cpu, Function::cpu_on, 1, entry, 0) == internal_failure);
        bench.answer = psci::success;
        CHECK(bench.call(core, cpu, Function::cpu_on, 1, entry, 0) == psci::success);
    });
    bench.requires_success();
}

TEST_CASE("a CPU started by firmware is reset, and enters in the state that its address gives") {
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        // CPU 0 acts as CPU 1 here, which must have finished its own start.
        for (unsigned n = 0; n < 10'000; ++n) bench.rig.simulation.scheduler.point();
        cpu.machine->power.prepare(1, CpuPower::off, {entry, context});
        core.system.set<reg::SCTLR>(~0u);
        const Frame frame = start_by_firmware(*cpu.machine, cpu.machine->cpus[1]);
        CHECK(frame.pc == (entry & ~1u));
        CHECK((frame.psr & arch::psr_thumb) != 0);
        CHECK(frame.r[0] == context);
        CHECK((core.system.get<reg::SCTLR>() & 1) == 0);
    });
    bench.requires_success();
    CHECK(bench.rig.records_of(abi::RecordType::power).size() == 1);
}

TEST_CASE("CPU_OFF and the machine's end are in the ring before the firmware is called") {
    Bench bench;
    const auto function = GENERATE(Function::cpu_off, Function::system_off, Function::system_reset);
    std::uint64_t recorded = 0;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        bench.rig.simulation.firmware = [&](const FirmwareCall&) -> std::uint32_t {
            recorded = bench.rig.ring(0).head;
            throw Halted{};
        };
        bench.call(core, cpu, function);
    });
    bench.requires_success();
    const auto power = bench.rig.records_of(abi::RecordType::power);
    REQUIRE(power.size() == 1);
    CHECK(recorded == bench.rig.ring(0).head);
    const auto event = function == Function::cpu_off      ? abi::PowerEvent::cpu_off
                       : function == Function::system_off ? abi::PowerEvent::system_off
                                                          : abi::PowerEvent::system_reset;
    CHECK(power[0].value == abi::power_value(event, 0));
}

TEST_CASE("a CPU whose CPU_OFF was denied is on") {
    Bench bench;
    constexpr auto denied = static_cast<std::uint32_t>(-3);
    bench.answer = denied;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        CHECK(bench.call(core, cpu, Function::cpu_off) == denied);
        CHECK(bench.call(core, cpu, Function::cpu_on, 0, entry, 0) == psci::already_on);
    });
    bench.requires_success();
}

TEST_CASE("a machine's end that the firmware does not know is an answer, and the trace goes on") {
    Bench bench;
    const auto function = GENERATE(Function::system_off, Function::system_reset);
    bench.answer = psci::not_supported;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        const std::uint32_t pc = core.frame.pc;
        CHECK(bench.call(core, cpu, function) == psci::not_supported);
        CHECK(bench.call(core, cpu, function) == psci::not_supported);
        CHECK(core.frame.pc == pc + 8);
        bench.call(core, cpu, Function::version);
    });
    bench.requires_success();
    CHECK(bench.rig.records_of(abi::RecordType::power).size() == 2);
    CHECK(bench.asked.size() == 3);
    CHECK(bench.rig.text().find("stop") == std::string::npos);
}

TEST_CASE("calls by identifiers that the tree names do the same, and reach the firmware by these") {
    constexpr psci::NamedFunctions named{0x95c1'ba5e, 0x95c1'ba5f, 0x95c1'ba60};
    Bench bench;
    bench.named = named;
    const auto call = [&](Core& core, mmioscope::Cpu& cpu, std::uint32_t id, std::uint32_t a = 0,
                          std::uint32_t b = 0) {
        return bench.call(core, cpu, static_cast<Function>(id), a, b, context);
    };
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        CHECK(call(core, cpu, named.cpu_on + 1, 1, entry) == psci::not_supported);
        CHECK(call(core, cpu, 0) == psci::not_supported);
        CHECK(call(core, cpu, named.cpu_on, 1, entry) == psci::success);
        CHECK(call(core, cpu, named.cpu_on, 1, entry) == psci::on_pending);
        CHECK(bench.rig.machine->power.arrive(1).entry == entry);
        call(core, cpu, named.cpu_suspend, psci::state_powers_down, entry);
        call(core, cpu, named.cpu_off);
    });
    bench.requires_success();
    REQUIRE(bench.asked.size() == 3);
    CHECK(bench.asked[0].function == named.cpu_on);
    CHECK(bench.asked[0].argument[1] == cpu_on_entry);
    CHECK(bench.asked[1].function == named.cpu_suspend);
    CHECK(bench.asked[1].argument[1] == cpu_on_entry);
    CHECK(bench.asked[2].function == named.cpu_off);
}

TEST_CASE("suspend to RAM and other calls that are not passed on do not exist for the guest") {
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        for (const std::uint32_t id :
             {0x8400'000eu, 0x8400'0012u}) { // SYSTEM_SUSPEND, SYSTEM_RESET2
            CHECK(bench.call(core, cpu, Function::features, id) == psci::not_supported);
            CHECK(bench.call(core, cpu, static_cast<Function>(id)) == psci::not_supported);
        }
        CHECK(bench.asked.empty());
        CHECK(bench.call(core, cpu, Function::features,
                         static_cast<std::uint32_t>(Function::cpu_suspend)) == psci::success);
    });
    bench.requires_success();
    CHECK(bench.asked.size() == 1);
}

TEST_CASE("a suspended CPU resumes where the guest said if the state powers down") {
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        bench.call(core, cpu, Function::cpu_suspend, 0, entry, context);
        bench.call(core, cpu, Function::cpu_suspend, psci::state_powers_down, entry, context);
        CHECK(bench.rig.machine->power.arrive(0).entry == entry);
    });
    bench.requires_success();
    REQUIRE(bench.asked.size() == 2);
    CHECK(bench.asked[0].argument[1] == entry); // it returns after the call
    CHECK(bench.asked[1].argument[1] == cpu_on_entry);
}

TEST_CASE(
    "a hundred CPU_SUSPENDs in 10 ms verify 4 KiB, and the machine's end verifies everything") {
    const bool ends = GENERATE(false, true);
    const auto end = GENERATE(Function::system_off, Function::system_reset);
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        core.system.set<reg::CNTFRQ>(1'000'000'000); // all of this takes less than 10 ms
        const Range text = bench.rig.machine->image.text;
        for (std::uint64_t page = text.begin + page_size; page < text.end; page += page_size)
            bench.damage(page); // all pieces except the first
        for (unsigned n = 0; n < 100; ++n)
            bench.call(core, cpu, Function::cpu_suspend, psci::state_powers_down, entry, context);
        if (ends) bench.call(core, cpu, end);
    });
    bench.requires_success();
    CHECK(bench.asked.size() == 100);
    CHECK(bench.found_damage() == ends);
}

TEST_CASE("CPU_SUSPENDs that power down verify a piece each, and a round of them everything") {
    const unsigned piece = GENERATE(0u, 3u, 31u); // of 32
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        core.system.set<reg::CNTFRQ>(1); // 10 ms are less than a tick
        const Range text = bench.rig.machine->image.text;
        REQUIRE(text.size() == 32 * page_size);
        bench.damage(text.begin + (piece + 1) * page_size - 1);
        for (std::size_t n = bench.rig.services.integrity.round(); n > 0; --n)
            bench.call(core, cpu, Function::cpu_suspend, psci::state_powers_down, entry, context);
    });
    bench.requires_success();
    CHECK(bench.asked.size() == piece);
    CHECK(bench.found_damage());
}

TEST_CASE("a CPU_SUSPEND that returns verifies nothing") {
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        bench.damage(bench.rig.machine->image.text.begin);
        bench.call(core, cpu, Function::cpu_suspend, 0, entry, context);
    });
    bench.requires_success();
    CHECK(bench.asked.size() == 1);
}

TEST_CASE("a function the hypervisor does not know never reaches the firmware") {
    Bench bench;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        for (const std::uint32_t id : {0u, 0x8400'0005u, 0x8400'0012u, 0xc400'0003u, ~0u})
            CHECK(bench.call(core, cpu, static_cast<Function>(id)) == psci::not_supported);
    });
    bench.requires_success();
    CHECK(bench.asked.empty());
}

TEST_CASE("a CPU powers down with the guest's debug registers in its debug unit") {
    const Function function = GENERATE(Function::cpu_off, Function::cpu_suspend);
    Bench bench;
    bool hyps_before = false;
    bool hyps = true;
    bench.run(Conduit::hvc, [&](Core& core, mmioscope::Cpu& cpu) {
        CHECK(!cpu.debug.guest_watches());
        hyps_before = cpu.debug.is_hyps();
        bench.rig.simulation.firmware = [&](const FirmwareCall&) {
            hyps = cpu.debug.is_hyps();
            return psci::success;
        };
        bench.call(core, cpu, function, psci::state_powers_down, entry, context);
    });
    bench.requires_success();
    CHECK(hyps_before);
    CHECK(!hyps);
}
