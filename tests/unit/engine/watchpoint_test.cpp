// A guest that watches a device's address sees its watchpoint fire, as without the hypervisor.
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr std::uint32_t monitor_mode = 0x8000;
constexpr std::uint32_t loads = 0x1ef; // DBGWCR: any mode, four bytes
constexpr std::uint32_t stores = 0x1f7;
constexpr std::uint32_t debug_event = 0x02;       // DFSR
constexpr std::uint32_t by_watchpoint = 0xa << 2; // DBGDSCR.MOE

Code& watch(Code& code, std::uint32_t address, std::uint32_t control, std::uint32_t dscr) {
    code.mov(1, 0).word(0xee01'1e90);           // mcr p14, 0, r1, c1, c0, 4: DBGOSLAR, unlocked
    code.mov(1, address).word(0xee00'1ed1);     // mcr p14, 0, r1, c0, c1, 6: DBGWVR1
    code.mov(1, control).word(0xee00'1ef1);     // mcr p14, 0, r1, c0, c1, 7: DBGWCR1
    return code.mov(1, dscr).word(0xee00'1e52); // mcr p14, 0, r1, c0, c2, 2: DBGDSCR
}

} // namespace

TEST_CASE(
    "a watchpoint on a device fires before the access, and the guest's handler sees the reason",
    "[protocol]") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    const bool write = GENERATE(false, true);
    Code code = rig.program(0);
    watch(code, at::fifo, write ? stores : loads, monitor_mode).mov(0, at::fifo).mov(2, 7);
    const std::uint32_t pc = code.here();
    if (write) code.str(2, 0);
    else code.ldr(2, 0);
    code.ldr(3, 0, 4).end(); // beside it
    rig.run();
    Core& core = rig.simulation.cores[0];
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 1); // the handler ran, and continued after it
    CHECK(rig.reg(0, 2) == 7);
    CHECK(core.bank(port::Banked::lr_abt) == pc + 8);
    CHECK((core.bank(port::Banked::spsr_abt) & 0x1f) == 0x13);
    CHECK(core.system.get<reg::DFSR>() == debug_event);
    CHECK(core.system.get<reg::DFAR>() == at::fifo);
    CHECK(core.system.get<reg::DBGDSCR>() == (monitor_mode | by_watchpoint));
    CHECK(core.system.get<reg::DBGWCR<1>>() == (write ? stores : loads));
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == 1);
    CHECK(rig.records_of(abi::RecordType::fault).size() == 1);
}

TEST_CASE("a watchpoint that would not fire without the hypervisor does not fire in a step") {
    struct Setting {
        std::uint32_t address, control, dscr, lock;
    };
    const Setting setting = GENERATE(values<Setting>({
        {at::fifo, stores, monitor_mode, 0},          // the other direction
        {at::fifo + 4, loads, monitor_mode, 0},       // another word
        {at::fifo, loads, 0, 0},                      // monitor debug-mode off
        {at::fifo, loads, monitor_mode, 0xc5ac'ce55}, // OS lock set
        {at::fifo, loads & ~1u, monitor_mode, 0},     // not enabled
    }));
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    Code code = rig.program(0);
    watch(code, setting.address, setting.control, setting.dscr);
    code.mov(1, setting.lock).word(0xee01'1e90); // mcr p14, 0, r1, c1, c0, 4: DBGOSLAR
    code.mov(0, at::fifo).ldr(2, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 0);
    CHECK(rig.reg(0, 2) == 0x8004'8083);
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.simulation.cores[0].system.get<reg::DBGWCR<1>>() == setting.control);
}
