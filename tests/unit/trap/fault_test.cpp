// Traps that no program of the simulated guest causes, because its MMU is off and its tables are
// sound. They are made by hand after a guest has run.
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"
#include "trap/panic.hpp"

#include "catch_2_or_3.hpp"
#include "trap/fast_path.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// Runs an empty program, then `action` as CPU 0, in Hyp.
std::unique_ptr<Rig> run_then(std::function<void(Rig&, Core&, mmioscope::Cpu&)> action) {
    auto rig = std::make_unique<Rig>(options_for(abi::EngineKind::shadow, 1, 1));
    Rig* machine = rig.get();
    rig->on_end(0, [=](Core& core, mmioscope::Cpu& cpu) { action(*machine, core, cpu); });
    rig->run();
    CHECK(rig->failure() == "");
    return rig;
}

void trap(Core& core, mmioscope::Cpu& cpu, std::uint32_t hsr, std::uint32_t address) {
    core.system.set<reg::HSR>(hsr);
    core.system.set<reg::HDFAR>(address);
    core.system.set<reg::HPFAR>(address >> 12 << 4);
    mmioscope_guest_trap(cpu, core.frame);
}

constexpr std::uint32_t stage1_walk = 0x9200'0087; // translation fault, level 3, S1PTW
constexpr std::uint32_t load = 0x9381'0007;        // word to r1
constexpr std::uint32_t breakpoint = 0x8200'0022;
constexpr std::uint32_t prefetch = 0x8200'0000;
constexpr std::uint32_t slave_error = 1u << 9; // HSR.EA

/// An abort of a walk leaves HPFAR UNKNOWN (ARM ARM B3.13.5).
void trap_on_walk(Core& core, mmioscope::Cpu& cpu, std::uint32_t hsr, std::uint32_t address) {
    core.system.set<reg::HSR>(hsr);
    core.system.set<reg::HDFAR>(address);
    core.system.set<reg::HIFAR>(address);
    core.system.set<reg::HPFAR>(0xdead'bee0);
    mmioscope_guest_trap(cpu, core.frame);
    core.system.settle(); // the ERET
}

/// One record reports it, with an address of the guest's and none of the bus's.
void check_walk_abort(const Rig& rig, std::uint32_t va, bool write) {
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(!faults.empty());
    const abi::Record& last = faults.back();
    CHECK(last.value == abi::fault_value(abi::FaultReason::table_walk_abort));
    CHECK(last.va == va);
    CHECK(abi::physical_address(last) == 0);
    CHECK(last.device == abi::no_device);
    CHECK(abi::is_write(last) == write);
}

} // namespace

TEST_CASE(
    "an external abort on a walk of stage 2 is the guest's data abort, like one from the bus") {
    const std::uint32_t status = GENERATE(0x15u, 0x16u, 0x17u, 0x1du, 0x1eu, 0x1fu);
    const bool write = GENERATE(false, true);
    const bool slave = GENERATE(false, true);
    const std::uint32_t syndrome = GENERATE(0x9200'0000u, 0x9381'0000u, 0x9200'0080u, 0x9200'0100u);
    const std::uint32_t hsr = syndrome | status | (write ? 1u << 6 : 0) | (slave ? slave_error : 0);
    CAPTURE(hsr);
    const auto rig = run_then([=](Rig&, Core& core, mmioscope::Cpu& cpu) {
        const std::uint32_t pc = core.frame.pc;
        trap_on_walk(core, cpu, hsr, 0x8123'4567);
        CHECK(core.frame.pc == core.system.get<reg::VBAR>() + 0x10);
        CHECK(core.mode() == arch::Mode::abt);
        CHECK(core.bank(port::Banked::lr_abt) == pc + 8);
        CHECK(core.system.get<reg::DFAR>() == 0x8123'4567);
        CHECK(core.system.get<reg::DFSR>() ==
              (0x08u | (write ? 1u << 11 : 0) | (slave ? 1u << 12 : 0)));
    });
    check_walk_abort(*rig, 0x8123'4567, write);
}

TEST_CASE("an external abort on a walk of stage 2 for a fetch is the guest's prefetch abort") {
    const std::uint32_t status = GENERATE(0x15u, 0x16u, 0x17u, 0x1du, 0x1eu, 0x1fu);
    const bool slave = GENERATE(false, true);
    std::uint32_t pc = 0;
    const auto rig = run_then([&, status, slave](Rig&, Core& core, mmioscope::Cpu& cpu) {
        pc = core.frame.pc;
        trap_on_walk(core, cpu, prefetch | status | (slave ? slave_error : 0), pc);
        CHECK(core.frame.pc == core.system.get<reg::VBAR>() + 0x0c);
        CHECK(core.bank(port::Banked::lr_abt) == pc + 4);
        CHECK(core.system.get<reg::IFAR>() == pc);
        CHECK(core.system.get<reg::IFSR>() == (0x08u | (slave ? 1u << 12 : 0)));
    });
    check_walk_abort(*rig, pc, false);
}

TEST_CASE("a walk that aborts in a step ends it, and the access can be tried again") {
    const auto rig = run_then([](Rig& r, Core& core, mmioscope::Cpu& cpu) {
        const std::uint32_t pc = core.frame.pc;
        const std::uint32_t psr = core.frame.psr;
        Code(r.simulation.ram, pc).ldr(1, 0);
        trap(core, cpu, load, at::fifo);
        CHECK(in_step(cpu));
        trap_on_walk(core, cpu, 0x9200'0017, at::fifo);
        CHECK(!in_step(cpu));
        CHECK(!cpu.locks.held());
        CHECK(cpu.view.is_in(*cpu.normal));
        CHECK(core.bank(port::Banked::lr_abt) == pc + 8);
        CHECK(core.bank(port::Banked::spsr_abt) == psr);
        core.frame.pc = pc; // the handler returns
        core.frame.psr = psr;
        trap(core, cpu, load, at::fifo);
        CHECK(in_step(cpu));
        core.frame.pc += 4;
        trap(core, cpu, breakpoint, 0);
    });
    check_walk_abort(*rig, at::fifo, false);
    CHECK(rig->records_of(abi::RecordType::access).size() == 1);
}

TEST_CASE("a page-table walk through a traced page is stepped and recorded as such") {
    const auto rig = run_then([](Rig& r, Core& core, mmioscope::Cpu& cpu) {
        Code(r.simulation.ram, core.frame.pc).ldr(1, 0);
        trap(core, cpu, stage1_walk, at::fifo + 16);
        CHECK(in_step(cpu));
        core.frame.pc += 4;
        trap(core, cpu, breakpoint, 0);
        CHECK(!in_step(cpu));
    });
    const auto walks = rig->records_of(abi::RecordType::page_table_walk);
    REQUIRE(walks.size() == 1);
    CHECK(abi::physical_address(walks[0]) == at::fifo); // only the descriptor's page is known
    CHECK((walks[0].flags & abi::flag_value_unknown) != 0);
}

TEST_CASE("what met an invalid page table for a moment is tried again, whatever level is reported") {
    constexpr std::uint32_t table = 0x80f4'7000;
    for (const std::uint32_t hsr : {0x8200'0085u, 0x9200'0085u}) { // level 1, S1PTW: as by QEMU
        CAPTURE(hsr);
        const auto rig = run_then([&](Rig&, Core& core, mmioscope::Cpu& cpu) {
            const std::uint32_t pc = core.frame.pc;
            trap(core, cpu, hsr, table);
            CHECK(core.frame.pc == pc);
            CHECK(!in_step(cpu));
        });
        CHECK(rig->records_of(abi::RecordType::fault).empty());
    }
}

TEST_CASE("an access that traps again from its own step is given up, not stepped for ever") {
    const auto rig = run_then([](Rig& r, Core& core, mmioscope::Cpu& cpu) {
        core.bank(port::Banked::lr_abt) = 0;
        const std::uint32_t pc = core.frame.pc;
        Code(r.simulation.ram, pc).ldr(1, 0);
        for (unsigned tries = 0; tries < 10 && core.frame.pc == pc; ++tries)
            trap(core, cpu, load, at::fifo);
        CHECK(core.frame.pc != pc);
        CHECK(!in_step(cpu));
        CHECK(!cpu.locks.held());
        CHECK(core.bank(port::Banked::lr_abt) == pc + 8);
    });
    const auto faults = rig->records_of(abi::RecordType::fault);
    REQUIRE(!faults.empty());
    CHECK(faults.back().value == static_cast<std::uint64_t>(abi::FaultReason::no_progress));
}

TEST_CASE("an exception of Hyp itself ends in a report with its registers") {
    const auto rig = run_then([](Rig&, Core&, mmioscope::Cpu& cpu) {
        HypFrame frame{};
        frame.r[3] = 0x1234;
        frame.pc = 0x8200'0040;
        frame.vector = 4;
        mmioscope_hyp_fault(&cpu, frame);
    });
    CHECK(rig->text().find("mmioscope: stop: data abort on CPU 0\r\n") != std::string::npos);
    CHECK(rig->text().find("r3=0x00001234") != std::string::npos);
    CHECK(rig->text().find("pc=0x82000040") != std::string::npos);
}
