// Ownership of the debug unit: the guest finds its registers as it left them, and Hyp holds it no
// longer than needed.
#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

#include "catch_2_or_3.hpp"
#include "trap/fast_path.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr std::uint32_t monitor_mode = 0x8000;
constexpr std::uint32_t method = 0xf << 2; // DBGDSCR.MOE

/// DBG*: MCR p14, 0, rt, crn, crm, opc2.
struct DebugRegister {
    unsigned crn, crm, opc2;
};
constexpr DebugRegister dscr{0, 2, 2}, oslar{1, 0, 4}, oslsr{1, 1, 4}, osdlr{1, 3, 4}, vcr{0, 7, 0};
constexpr DebugRegister bvr(unsigned n) {
    return {0, n, 4};
}
constexpr DebugRegister bcr(unsigned n) {
    return {0, n, 5};
}
constexpr DebugRegister wvr(unsigned n) {
    return {0, n, 6};
}
constexpr DebugRegister wcr(unsigned n) {
    return {0, n, 7};
}

bool is_oslar(DebugRegister r) { // write-only
    return r.crn == 1 && r.crm == oslar.crm;
}
std::uint32_t coprocessor_14(DebugRegister r, unsigned rt) {
    return 0xee00'0e10 | r.crn << 16 | rt << 12 | r.opc2 << 5 | r.crm;
}
Code& set(Code& code, DebugRegister r, std::uint32_t value) {
    return code.mov(1, value).word(coprocessor_14(r, 1));
}
Code& get(Code& code, unsigned rt, DebugRegister r) {
    return code.word(coprocessor_14(r, rt) | 1u << 20);
}
Code& device(Code& code) {
    return code.mov(0, at::fifo + 8).ldr(1, 0).ldr_post(1, 0, 4);
}

struct Access { ///< of the guest's to a debug register
    DebugRegister where;
    std::uint32_t value; ///< to write, unless it is a read
    bool read;
};

/// What a guest reads when it alternates between its debug registers and a device.
std::string read_by_guest(const RigOptions& options, const std::vector<Access>& accesses) {
    constexpr std::uint32_t results = 0x8004'0000;
    Rig rig(options);
    Code code = rig.program(0);
    code.mov(4, results);
    device(code);
    unsigned reads = 0;
    for (const Access& a : accesses) {
        if (a.read) get(code, 2, a.where).str_post(2, 4, 4), ++reads;
        else set(code, a.where, a.value);
        device(code);
    }
    code.end();
    rig.run();
    std::ostringstream out;
    out << rig.failure() << std::hex;
    for (unsigned n = 0; n < reads; ++n)
        out << " " << rig.simulation.ram.load<std::uint32_t>(results + 4 * n);
    if (!options.native && compare_with_bus(rig) != "") out << compare_with_bus(rig);
    return out.str();
}

} // namespace

TEST_CASE("a breakpoint or an OS lock of the guest does not disturb a step", "[protocol]") {
    const std::uint32_t lock = GENERATE(0u, 0xc5ac'ce55u);
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    Code code = rig.program(0);
    const std::uint32_t load = code.here() + 4 * 14;
    set(code, oslar, 0);
    set(code, bvr(5), load);
    set(code, bcr(5), 0x1e7);
    set(code, oslar, lock).mov(0, at::fifo + 8);
    REQUIRE(code.here() == load);
    code.ldr(2, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 2) == 0x8004'8083);
    CHECK(compare_with_bus(rig) == "");
    const Registers& system = rig.simulation.cores[0].system;
    CHECK(system.get<reg::DBGBCR<5>>() == 0x1e7);
    CHECK(system.get<reg::DBGOSLSR>() == (lock != 0 ? 2 : 0));
}

TEST_CASE("the guest's debug registers are as it left them after a step", "[protocol]") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    Code code = rig.program(0);
    set(code, oslar, 0);
    for (unsigned n = 0; n < 6; ++n) {
        set(code, bvr(n), 0x9000'0000 + 16 * n);
        set(code, bcr(n), 0x1e4 | (n & 1));
    }
    code.mov(0, at::fifo + 8).ldr(1, 0).strd(2, 0, 8).end();
    rig.run();
    CHECK(rig.failure() == "");
    Registers& system = rig.simulation.cores[0].system;
    for (unsigned n = 0; n < 6; ++n) {
        CHECK(system.get(encode32(14, 0, 0, n, 4)) == 0x9000'0000 + 16 * n);
        CHECK(system.get(encode32(14, 0, 0, n, 5)) == (0x0000'01e4u | (n & 1)));
    }
    CHECK(system.get<reg::DBGDSCR>() == 0);
    CHECK((system.get<reg::HDCR>() & 0xf00) == 0);
}

TEST_CASE("the guest reads from the debug unit what it wrote, whatever it does in between",
          "[protocol]") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        std::vector<DebugRegister> registers{dscr, oslsr, oslar, oslar, osdlr};
        for (unsigned n = 0; n < 6; ++n) registers.insert(registers.end(), {bvr(n), bcr(n)});
        for (unsigned n = 0; n < 4; ++n) registers.insert(registers.end(), {wvr(n), wcr(n)});
        std::vector<Access> accesses;
        for (unsigned n = 0; n < 60; ++n) {
            const DebugRegister which = registers[random.below(registers.size())];
            std::uint32_t value = 0x1000'01e4 + 16 * n; // disabled, with an unused address
            if (which.opc2 == dscr.opc2) value = random.one_in(2) ? monitor_mode : 0;
            // An enabled one stays on for a while, at an address that is not reached.
            if (which.opc2 == 5 || which.opc2 == 7) value = 0x1e6 | random.below(2);
            if (which.crn == 1) value = 0; // OSDLR, and the OS lock, cleared
            if (is_oslar(which) && random.one_in(3)) value = 0xc5ac'ce55;
            const bool read = random.one_in(2) || (which.crn == 1 && which.crm == oslsr.crm);
            accesses.push_back({which, value, read && !is_oslar(which)});
        }
        for (const DebugRegister& r : registers)
            if (!is_oslar(r)) accesses.push_back({r, 0, true});
        const RigOptions options = options_for(engine, 1, seed);
        RigOptions native = options;
        native.native = true;
        REQUIRE(read_by_guest(options, accesses) == read_by_guest(native, accesses));
    }
}

TEST_CASE("the debug unit is Hyp's from the first step to the guest's next access", "[protocol]") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 2));
    const DebugUnit& unit = rig.machine->cpus[0].debug;
    Code code = rig.program(0);
    set(code, oslar, 0);
    set(code, dscr, monitor_mode);
    const std::uint32_t first = device(code).here();
    code.nop();
    const std::uint32_t touched = get(code, 2, dscr).here();
    code.nop();
    const std::uint32_t second = device(code).here();
    code.nop().end();
    std::map<std::uint32_t, bool> hyps;
    rig.simulation.meanwhile = [&](const Core& core) {
        const std::uint32_t hdcr = core.system.get<reg::HDCR>();
        const bool armed = in_step(rig.machine->cpus[0]);
        const bool vectors = unit.hstr() != 0;
        hyps[core.frame.pc] = unit.is_hyps();
        CHECK((hdcr & 0xf00) == (unit.is_hyps() ? 0xf00u : 0u)); // TDE, TDRA, TDOSA, TDA
        CHECK(vectors == unit.is_hyps());
        if (unit.is_hyps() && !armed) CHECK((core.system.get<reg::DBGDSCR>() & monitor_mode) == 0);
    };
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(hyps.at(first));
    CHECK(!hyps.at(touched));
    CHECK(hyps.at(second));
    CHECK(rig.reg(0, 2) == monitor_mode);
}

TEST_CASE("while a debug feature of the guest is on, the debug unit is Hyp's for one step only",
          "[protocol]") {
    const Access on = GENERATE(values<Access>({{bcr(5), 0x1e7, false},
                                               {bcr(0), 0x1e7, false},
                                               {wcr(3), 0x1ff, false},
                                               {vcr, 2, false},
                                               {osdlr, 1, false},
                                               {dscr, monitor_mode | 1 << 14, false}}));
    Rig rig(options_for(GENERATE(values(engines)), 1, 2));
    Code code = rig.program(0);
    set(code, oslar, 0);
    set(code, on.where, on.value);
    const std::uint32_t off = device(code).here();
    set(code, on.where, 0);
    const std::uint32_t behind = device(code).here();
    code.nop().end();
    bool begun = false;
    bool hyps_in_the_end = false;
    rig.simulation.meanwhile = [&](const Core& core) {
        const mmioscope::Cpu& cpu = rig.machine->cpus[0];
        begun |= in_step(cpu);
        if (core.frame.pc <= off) CHECK(cpu.debug.is_hyps() == in_step(cpu));
        if (core.frame.pc == behind) hyps_in_the_end = cpu.debug.is_hyps();
    };
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(begun);
    CHECK(hyps_in_the_end);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("while the guest has a breakpoint on, emulation stays on the fast path, and steps do not",
          "[protocol]") {
    constexpr unsigned loads = 100;
    const auto engine = GENERATE(values(engines));
    RigOptions options = options_for(engine, 1, 1);
    options.conditions.exclusives_fail_one_in = 0;
    Rig rig(options);
    Code code = rig.program(0);
    const auto many = [&] {
        code.mov(0, at::fifo + 8);
        for (unsigned n = 0; n < loads; ++n) code.ldr(1, 0);
    };
    set(code, oslar, 0);
    set(code, dscr, monitor_mode);
    set(code, bvr(5), 0x9000'0000);
    set(code, bcr(5), 0x1e7);
    many();
    get(code, 2, bcr(5));             // traps once, and ends what Hyp knows
    code.ldr(1, 0).ldr_post(1, 0, 4); // HSR does not describe it: a step, under emulation, too
    many();
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 2) == 0x1e7);
    CHECK(compare_with_bus(rig) == "");
    if (engine == abi::EngineKind::emulation) CHECK(rig.simulation.slow_traps < 15);
    else CHECK(rig.simulation.slow_traps > 2 * 2 * loads);
}

TEST_CASE("a watchpoint that the guest sets beside its breakpoint fires at once", "[protocol]") {
    Rig rig(options_for(abi::EngineKind::emulation, 1, 1));
    Code code = rig.program(0);
    set(code, oslar, 0);
    set(code, bvr(5), 0x9000'0000);
    set(code, bcr(5), 0x1e7);
    set(code, wvr(1), at::fifo + 8);
    const bool mode_last = GENERATE(false, true);
    for (const bool mode : {!mode_last, mode_last}) {
        if (mode) set(code, dscr, monitor_mode);
        else set(code, wcr(1), 0x1ef);
        code.mov(0, at::fifo + 8).ldr(1, 0).ldr(1, 0);
    }
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 2); // the guest's handler continues behind each load
    CHECK(rig.records_of(abi::RecordType::fault).size() == 2);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("in a step, vector catch is off, and the breakpoint linked to a watchpoint stays on",
          "[protocol]") {
    constexpr std::uint32_t linked = 3 << 20 | 0x1e7; // a context ID, for others
    Rig rig(options_for(abi::EngineKind::shadow, 1, 2));
    Code code = rig.program(0);
    set(code, oslar, 0);
    set(code, vcr, 2);
    set(code, bcr(4), 0x1e7);
    set(code, bcr(5), linked);
    device(code).end();
    unsigned steps = 0;
    rig.simulation.meanwhile = [&](const Core& core) {
        if (!in_step(rig.machine->cpus[0])) return;
        ++steps;
        CHECK(core.system.get<reg::DBGVCR>() == 0);
        CHECK(core.system.get<reg::DBGBCR<4>>() == 0);
        CHECK(core.system.get<reg::DBGBCR<5>>() == linked);
    };
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(steps >= 2);
    CHECK(rig.simulation.cores[0].system.get<reg::DBGVCR>() == 2);
    CHECK(rig.simulation.cores[0].system.get<reg::DBGBCR<4>>() == 0x1e7);
}

TEST_CASE("the guest's BKPT stays its last debug event, however many steps follow", "[protocol]") {
    constexpr std::uint32_t handlers = 0x8003'0000;
    const auto engine = GENERATE(values(engines));
    const auto run = [&](bool native) {
        RigOptions options = options_for(engine, 1, 3);
        options.native = native;
        Rig rig(options);
        Code vectors(rig.simulation.ram, handlers + 0x0c);
        vectors.subs(15, 14, 0); // after it: LR is 4 more than BKPT's address
        Code code = rig.program(0);
        set(code, oslar, 0);
        set(code, dscr, monitor_mode);
        code.mov(0, handlers).set_vbar(0);
        device(code).word(0xe120'0070); // bkpt
        device(code);
        get(code, 2, dscr);
        device(code);
        get(code, 3, dscr).word(0xee15'5f30).end(); // mrc p15, 0, r5, c5, c0, 1: IFSR
        rig.run();
        CHECK(rig.failure() == "");
        CHECK(rig.reg(0, 2) == rig.reg(0, 3));
        return std::pair(rig.reg(0, 2), rig.reg(0, 5));
    };
    const auto native = run(true);
    CHECK((native.first & method) == 3 << 2);
    CHECK(run(false) == native);
}

TEST_CASE("a breakpoint that the guest has off does not match while the debug unit is Hyp's",
          "[protocol]") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    Code code = rig.program(0);
    set(code, oslar, 0);
    set(code, dscr, monitor_mode);
    const std::uint32_t behind = code.here() + 4 * 6;
    set(code, bvr(0), behind);           // Hyp uses breakpoint 0 for its steps
    code.mov(0, at::fifo + 8).ldr(1, 0); // emulation takes the unit, and does not step
    REQUIRE(code.here() == behind);
    code.nop().end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].system.get<reg::IFSR>() == 0);
    CHECK(rig.simulation.cores[0].frame.pc == behind + 4);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("a step's breakpoints are of the instruction set that the vectors now have",
          "[protocol]") {
    constexpr std::uint32_t te = 1u << 30;
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    unsigned steps[2]{};
    rig.simulation.meanwhile = [&](const Core& core) {
        if (!in_step(rig.machine->cpus[0])) return;
        const bool thumb = (core.system.get<reg::SCTLR>() & te) != 0;
        CHECK(core.system.get<reg::DBGBCR<3>>() == arch::address_match(0x10, thumb));
        ++steps[thumb];
    };
    Code code = rig.program(0);
    const auto four_loads = [&] {
        code.mov(0, at::fifo + 8).ldr(1, 0).ldr(1, 0).ldr(1, 0).ldr(1, 0);
    };
    four_loads();
    for (const std::uint32_t value : {te, 0u}) {
        code.mov(2, arch::sctlr_reset | value).word(0xee01'2f10); // mcr p15, 0, r2, c1, c0, 0
        four_loads();
    }
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(steps[0] >= 8);
    CHECK(steps[1] >= 4);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("a step's breakpoints are where the guest has its vectors now", "[protocol]") {
    constexpr std::uint32_t moved = 0x8003'0000;
    constexpr std::uint32_t broken =
        at::broken + 8; // no page's first word: the slow path's, MMU off
    Rig rig(options_for(abi::EngineKind::shadow, 1, GENERATE(range(1, 5))));
    Code there(rig.simulation.ram, moved + 0x10);
    there.add(9, 9, 16).subs(15, 14, 4);
    const bool thumb = GENERATE(false, true);
    Code code = rig.program(0);
    const auto load = [&] {
        if (thumb) code.to_thumb().load_w(2, false, 1, 0, 0).to_arm();
        else code.ldr(1, 0);
    };
    device(code).mov(0, broken);
    load();
    code.mov(0, at::fifo + 8);
    load(); // opens the fast path for this state, behind the exception
    code.mov(0, broken).mov(2, moved).set_vbar(2);
    load();
    device(code).end();
    rig.run();
    CHECK(rig.failure() == ""); // "two instructions ran on a shadow table", for one
    CHECK(rig.reg(0, 9) == 1 + 16);
    CHECK(rig.records_of(abi::RecordType::fault).size() == 2);
    CHECK(compare_with_bus(rig) == "");
}
