// Accesses that reach no traced device, and calls that nobody answers.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

RigOptions tracing(abi::EngineKind engine, std::vector<std::string> what, unsigned cpus = 1) {
    RigOptions options = options_for(engine, cpus, 1);
    options.tree.trace = std::move(what);
    return options;
}

std::uint64_t reason(const abi::Record& r) { return r.value; }

} // namespace

TEST_CASE("an untraced neighbour in a traced page is reached without a record, and counted") {
    const auto engine = GENERATE(values(engines));
    Rig rig(tracing(engine, {"none", "0x1c140000+0x100"}));
    Code code = rig.program(0);
    code.mov(0, at::gadget).mov(4, 0x55).ldr(1, 0).str(4, 0, 0x100).ldr(5, 0, 0x100);
    code.mov(8, at::neighbour).ldrd(6, 8).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 5) == 0x55);
    CHECK(rig.reg(0, 6) == 0x55);
    CHECK(rig.records_of(abi::RecordType::access).size() == 1);
    CHECK(rig.ring(0).statistics.unselected == 3);
    CHECK(compare_with_bus(rig, {{at::neighbour, at::neighbour + 0x100}}) == "");
}

TEST_CASE("an LDM that begins in an untraced page has a record for each word of the traced one") {
    Rig rig(tracing(GENERATE(values(engines)), {"none", "0x1c151000+0x1000"}));
    rig.program(0)
        .mov(0, at::wide + 0xff8)
        .mov(4, 44).mov(5, 55).mov(6, 66).mov(7, 77)
        .stm(0, 0x00f0)
        .ldm(0, 0x001e)
        .end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 44);
    CHECK(rig.reg(0, 4) == 77);
    CHECK(rig.records_of(abi::RecordType::access).size() == 4);
    CHECK(compare_with_bus(rig, {{at::wide, at::wide + 0x1000}}) == "");
}

TEST_CASE("an untraced device is reached without a trap") {
    Rig rig(tracing(GENERATE(values(engines)), {"none"}));
    rig.program(0).mov(0, at::fifo).ldr(1, 0).ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.ring(0).statistics.traps == 0);
    CHECK(rig.bus_log(at::fifo, 0x1000).size() == 2);
}

TEST_CASE("an address that no node names reads as zero and becomes a fault record") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    rig.program(0).mov(0, at::unnamed).mov(1, 5).ldrb(1, 0, 4).mov(2, 9).strh(2, 0, 8).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 0);
    CHECK(rig.bus_log(at::unnamed, 0x1000).empty());
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == 2);
    CHECK(reason(faults[0]) == static_cast<std::uint64_t>(abi::FaultReason::unnamed_address));
    CHECK(faults[0].device == abi::no_device);
    CHECK(abi::access_size(faults[0]) == 1);
    CHECK(abi::is_write(faults[1]));
    CHECK(abi::physical_address(faults[1]) == at::unnamed + 8);
}

TEST_CASE("an access to an address that no node names aborts if HSR does not describe it") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    rig.program(0).mov(0, at::unnamed).mov(1, 5).ldr_post(1, 0, 4).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 1);
    CHECK(rig.reg(0, 0) == at::unnamed);
    CHECK(rig.reg(0, 1) == 5);
}

TEST_CASE("the hypervisor's memory and UART do not exist for the guest") {
    const std::uint32_t address = GENERATE(0x8200'0000u, 0x8300'0000u, at::own_uart + 0x18u);
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    rig.program(0).mov(0, address).mov(1, 5).ldr(1, 0).str(0, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 0);
    CHECK(rig.records_of(abi::RecordType::fault).size() == 2);
    CHECK(rig.text().find("mmioscope: stop") == std::string::npos);
    CHECK(compare_with_bus(rig) == ""); // none of the guest's on the bus
}

TEST_CASE("HVC and SMC are undefined instructions, as without Hyp and Monitor") {
    const bool hvc = GENERATE(true, false);
    const bool thumb = GENERATE(false, true);
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    Code code = rig.program(0);
    code.cpsie_aif();
    if (thumb) code.to_thumb();
    const std::uint32_t pc = code.here();
    if (thumb) code.wide(hvc ? 0xf7e0'8000 : 0xf7f0'8000);
    else if (hvc) code.hvc();
    else code.smc();
    code.word(0xe7fe'e7fe).end(); // Thumb's end twice: the handler returns into the wide one
    if (!thumb) Code(rig.simulation.ram, pc + 4).end();
    rig.run();
    Core& core = rig.simulation.cores[0];
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 10) >= 1);
    CHECK(core.bank(port::Banked::lr_und) == pc + (thumb ? 2 : 4));
    CHECK((core.bank(port::Banked::spsr_und) & 0x1ff) == (thumb ? 0x33u : 0x13u));
}

TEST_CASE("cache maintenance on a traced page reaches no device and is recorded as such") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    rig.program(0).mov(0, at::fifo + 64).dcimvac(0).end();
    rig.run();
    CHECK(rig.failure() == "");
    const auto found = rig.records_of(abi::RecordType::maintenance);
    REQUIRE(found.size() == 1);
    CHECK(abi::physical_address(found[0]) == at::fifo + 64);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("executing from a device is a prefetch abort, recorded as a fetch") {
    const bool traced = GENERATE(true, false);
    Rig rig(tracing(GENERATE(values(engines)), {traced ? "all" : "none"}));
    rig.program(0).mov(12, at::fifo + 0x20).bx(12);
    rig.run();
    Core& core = rig.simulation.cores[0];
    CHECK(rig.failure() == "");
    CHECK(core.bank(port::Banked::lr_abt) == at::fifo + 0x24);
    CHECK(core.system.get<reg::IFSR>() == 0x08);
    const auto found = rig.records_of(abi::RecordType::fetch);
    REQUIRE(found.size() == 1);
    CHECK(found[0].va == at::fifo + 0x20);
    if (traced) CHECK(abi::physical_address(found[0]) == at::fifo + 0x20);
}

TEST_CASE("loading PC from a device is refused loudly") {
    constexpr std::uint32_t ldr_pc_r0 = 0xe590'f000;
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    rig.program(0).mov(0, at::fifo).word(ldr_pc_r0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 1);
    CHECK(rig.bus_log(at::fifo, 0x1000).empty());
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == 1);
    CHECK(reason(faults[0]) == static_cast<std::uint64_t>(abi::FaultReason::loads_pc));
}
