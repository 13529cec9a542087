// LDREX and STREX on traced pages: the guest's results, the accesses to the device, and the trace.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

// With r0 for an address.
constexpr std::uint32_t ldrex_r1 = 0xe190'1f9f;
constexpr std::uint32_t strex_r4_r2 = 0xe180'4f92;
constexpr std::uint32_t ldrexb_r1 = 0xe1d0'1f9f;
constexpr std::uint32_t strexb_r4_r2 = 0xe1c0'4f92;
constexpr std::uint32_t ldrexd_r6 = 0xe1b0'6f9f;
constexpr std::uint32_t strexd_r4_r2 = 0xe1a0'4f92;
constexpr std::uint32_t clrex = 0xf57f'f01f;
constexpr std::uint32_t mrc_r8 = 0xee1d'8f70; // TPIDRURO: Hyp does not follow the guest over it

/// When a store-exclusive asks the CPU's monitor, and what clears that (A8.8.212).
struct Monitor {
    bool asked_first;
    bool cleared_by_exceptions;
    bool keeps() const { return asked_first && !cleared_by_exceptions; }
};
constexpr auto monitors = {Monitor{false, false}, Monitor{false, true}, Monitor{true, false},
                           Monitor{true, true}};

RigOptions with(Monitor monitor, abi::EngineKind engine, unsigned cpus = 1,
                std::uint64_t seed = 5) {
    RigOptions options = options_for(engine, cpus, seed);
    options.conditions.monitor_asked_first = monitor.asked_first;
    options.conditions.exceptions_clear_monitor = monitor.cleared_by_exceptions;
    return options;
}

struct Run {
    std::unique_ptr<Rig> rig;
    std::vector<abi::Record> records;

    std::uint32_t r(unsigned n) const { return rig->reg(0, n); }
};

/// r0: a word of a device; r2, r3: values to store.
template <class Write>
Run run(abi::EngineKind engine, Write&& write) {
    const Monitor monitor = GENERATE(values(monitors));
    CAPTURE(monitor.asked_first, monitor.cleared_by_exceptions);
    auto rig = std::make_unique<Rig>(with(monitor, engine));
    Code code = rig->program(0);
    code.mov(0, at::wide).mov(2, 0x1234'89ab).mov(3, 0x5678'0000).mov(4, 77);
    write(code);
    code.end();
    rig->run();
    CHECK(rig->failure() == "");
    CHECK(rig->simulation.cores[0].ended);
    CHECK(compare_with_bus(*rig) == "");
    auto records = rig->records_of(abi::RecordType::access);
    return {std::move(rig), std::move(records)};
}

std::size_t writes(const Run& run) {
    return static_cast<std::size_t>(std::count_if(run.records.begin(), run.records.end(),
                                                  [](const auto& r) { return abi::is_write(r); }));
}

} // namespace

TEST_CASE("a load-exclusive and a store-exclusive make a read and a write") {
    const Run pair =
        run(GENERATE(values(engines)), [](Code& c) { c.word(ldrex_r1).word(strex_r4_r2); });
    CHECK(pair.r(4) == 0);
    REQUIRE(pair.records.size() == 2);
    CHECK(pair.records[0].value == pair.r(1));
    CHECK(abi::is_write(pair.records[1]));
    CHECK(pair.records[1].value == 0x1234'89ab);
    CHECK((pair.records[1].access & abi::access_emulated) != 0);
}

TEST_CASE(
    "User's store-exclusive is counted, and refused behind a firewall that distinguishes Hyp's") {
    RigOptions options = with(GENERATE(values(monitors)), GENERATE(values(engines)));
    options.tree.user_firewall = GENERATE(false, true);
    Rig rig(options);
    rig.program(0).mov(0, at::wide).cps(0x10).word(ldrex_r1).word(strex_r4_r2).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.reg(0, 9) == (options.tree.user_firewall ? 1 : 0)); // data aborts
    CHECK(rig.bus_log(at::wide, 4).size() == (options.tree.user_firewall ? 1 : 2));
    CHECK(rig.records_of(abi::RecordType::fault).size() == (options.tree.user_firewall ? 1 : 0));
    CHECK(rig.ring(0).statistics.emulated_user == (options.tree.user_firewall ? 0 : 1));
}

TEST_CASE("exclusives of bytes and doublewords are recorded, too") {
    const auto engine = GENERATE(values(engines));
    const Run byte = run(engine, [](Code& c) { c.word(ldrexb_r1).word(strexb_r4_r2); });
    CHECK(byte.r(4) == 0);
    REQUIRE(byte.records.size() == 2);
    CHECK(byte.records[1].value == 0xab);
    CHECK(abi::access_size(byte.records[1]) == 1);
    const Run words = run(engine, [](Code& c) { c.word(ldrexd_r6).word(strexd_r4_r2); });
    CHECK(words.r(4) == 0);
    REQUIRE(words.records.size() == 4);
    CHECK(words.records[3].value == 0x5678'0000);
    CHECK(abi::physical_address(words.records[3]) == at::wide + 4);
}

TEST_CASE("a store-exclusive without its load stores nothing and makes no record") {
    const auto engine = GENERATE(values(engines));
    SECTION("no load") {
        const Run alone = run(engine, [](Code& c) { c.word(strex_r4_r2); });
        CHECK(alone.r(4) == 1);
        CHECK(alone.records.empty());
    }
    SECTION("the second of two stores") {
        const Run two =
            run(engine, [](Code& c) { c.word(ldrex_r1).word(strex_r4_r2).word(strex_r4_r2); });
        CHECK(two.r(4) == 1);
        CHECK(writes(two) == 1);
    }
    SECTION("another address") {
        const Run other =
            run(engine, [](Code& c) { c.word(ldrex_r1).add(0, 0, 16).word(strex_r4_r2); });
        CHECK(other.r(4) == 1);
        CHECK(writes(other) == 0);
    }
    SECTION("another size") {
        const Run other = run(engine, [](Code& c) { c.word(ldrex_r1).word(strexb_r4_r2); });
        CHECK(other.r(4) == 1);
        CHECK(writes(other) == 0);
    }
    SECTION("another mode") {
        const Run other =
            run(engine, [](Code& c) { c.word(ldrex_r1).cps(0x1f).word(strex_r4_r2).cps(0x13); });
        CHECK(other.r(4) == 1);
        CHECK(writes(other) == 0);
    }
    SECTION("another stack") {
        const Run other =
            run(engine, [](Code& c) { c.word(ldrex_r1).add(13, 13, 64).word(strex_r4_r2); });
        CHECK(other.r(4) == 1);
        CHECK(writes(other) == 0);
    }
}

TEST_CASE("a store in between, by any instruction, makes the store-exclusive fail") {
    const auto engine = GENERATE(values(engines));
    const auto store = GENERATE(as<std::uint32_t>{}, 0xe580'3000, // str r3, [r0]
                                0xe5c0'3003,                      // strb r3, [r0, #3]
                                0xe880'000c,                      // stm r0, {r2, r3}
                                0xed80'0a00,                      // vstr s0, [r0]
                                0xe100'6093);                     // swp r6, r3, [r0]
    const Run between =
        run(engine, [&](Code& c) { c.word(ldrex_r1).word(store).word(strex_r4_r2); });
    CHECK(between.r(4) == 1);
}

TEST_CASE("a store to another register, or a load, does not make the store-exclusive fail") {
    const auto engine = GENERATE(values(engines));
    const Run between =
        run(engine, [](Code& c) { c.word(ldrex_r1).str(3, 0, 8).ldr(5, 0).word(strex_r4_r2); });
    CHECK(between.r(4) == 0);
}

TEST_CASE("a store-exclusive that the bus answers with an error is the guest's own data abort") {
    const auto engine = GENERATE(values(engines));
    const bool doubleword = GENERATE(false, true);
    Rig rig(with(GENERATE(values(monitors)), engine));
    rig.simulation.bus.attach({at::wide, at::wide + 0x1000}, std::make_unique<ReadOnly>());
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(2, 0x1234'89ab).mov(3, 0x5678'0000).mov(4, 77);
    code.cpsie_aif().word(0xf10c'0080); // cpsid i
    code.word(doubleword ? ldrexd_r6 : ldrex_r1);
    const std::uint32_t pc = code.here();
    const std::uint32_t store = doubleword ? strexd_r4_r2 : strex_r4_r2;
    code.word(store).add(5, 4, 0).word(store).ldr(8, 0).end();
    rig.run();
    Core& core = rig.simulation.cores[0];
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 1);  // the handler ran once,
    CHECK(rig.reg(0, 5) == 77); // the status register was not written,
    CHECK(rig.reg(0, 4) == 1);  // and the reservation is gone
    CHECK(core.bank(port::Banked::lr_abt) == pc + 8);
    CHECK((core.bank(port::Banked::spsr_abt) & 0x1ff) == 0x93);
    CHECK(core.system.get<reg::DFSR>() == 0x808); // synchronous external abort, on a write
    CHECK(core.system.get<reg::DFAR>() == at::wide);
    CHECK(compare_with_bus(rig) == ""); // the loads; the lock's sequence has no gap
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == 1);
    CHECK(abi::physical_address(faults[0]) == at::wide);
    CHECK(abi::is_write(faults[0]));
    CHECK(faults[0].pc == pc);
    CHECK(faults[0].value == static_cast<std::uint64_t>(abi::FaultReason::external_abort));
}

TEST_CASE("CPUs that count with exclusives lose nothing, and all finish") {
    const auto engine = GENERATE(values(engines));
    const auto monitor = GENERATE(values(monitors));
    const auto seed = GENERATE(range(1u, 3u));
    constexpr unsigned cpus = 3;
    constexpr unsigned rounds = 20;
    CAPTURE(monitor.asked_first, monitor.cleared_by_exceptions, seed);
    Rig rig(with(monitor, engine, cpus, seed));
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        Code code = rig.program(cpu);
        code.mov(0, at::wide).mov(5, rounds);
        const std::uint32_t again = code.here();
        code.word(ldrex_r1).add(2, 1, 1).word(strex_r4_r2).subs(6, 4, 0).bne(again);
        code.str(2, 0, 16); // other registers are stored to all the time
        code.subs(5, 5, 1).bne(again).end();
    }
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    const auto stores = rig.stores_to(at::wide, 4);
    REQUIRE(stores.size() == cpus * rounds);
    CHECK(stores.back().value == cpus * rounds);
}

namespace {

/// What lies between a load-exclusive and its store-exclusive. r6 is a word of memory.
struct Between {
    const char* name;
    void (*write)(Code&);
    bool followed;      ///< by Hyp, up to the store
    bool clears{false}; ///< by itself
};
const Between betweens[] = {
    {"nothing", [](Code&) {}, true},
    {"calculations", [](Code& c) { c.add(2, 1, 1).word(0xe1a0'8103).subs(8, 2, 0); }, true},
    {"a comparison and a branch", [](Code& c) { c.subs(8, 3, 0).bne(c.here() + 8).nop(); }, true},
    {"memory", [](Code& c) { c.str(1, 6).ldr(8, 6).word(0xf57f'f05f); }, true}, // and DMB
    {"another register", [](Code& c) { c.str(3, 0, 16).ldr(8, 0, 16).ldr_post(8, 7, 0); }, true},
    {"a system register", [](Code& c) { c.word(mrc_r8); }, false},
    {"a call", [](Code& c) { c.mov(8, c.here() + 12).bx(8).nop(); }, false},
    {"CLREX", [](Code& c) { c.word(clrex); }, false, true},
    {"calculations and CLREX", [](Code& c) { c.add(8, 3, 1).word(clrex).nop(); }, false, true},
    {"a branch to CLREX", [](Code& c) { c.b(c.here() + 8).nop().word(clrex); }, false, true},
    {"a system register and CLREX", [](Code& c) { c.word(mrc_r8).word(clrex); }, false, true},
};

/// What the CPU did, seen from outside.
struct Watch {
    std::uint32_t load{};
    std::uint32_t store{};
    bool cleared{}; ///< CLREX was executed since the load
    bool cleared_at_store{};
    unsigned wrong{}; ///< successes after CLREX
    unsigned successes{};

    void see(const Simulation& simulation, const Core& core) {
        const std::uint32_t pc = core.frame.pc;
        if (pc == load) cleared = false;
        else if (pc == store) cleared_at_store = cleared;
        else if (simulation.ram.load<std::uint32_t>(pc) == clrex) cleared = true;
        else if (pc == store + 4) {
            if (core.frame.r[4] == 0) ++successes;
            if (core.frame.r[4] == 0 && cleared_at_store) ++wrong;
            cleared_at_store = false;
        }
    }
};

} // namespace

TEST_CASE("no store-exclusive succeeds after CLREX, whoever has executed that", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    const auto monitor = GENERATE(values(monitors));
    const Between between = GENERATE(from_range(std::begin(betweens), std::end(betweens)));
    const unsigned interrupt_one_in = GENERATE(0u, 4u);
    CAPTURE(monitor.asked_first, monitor.cleared_by_exceptions, between.name, interrupt_one_in);
    constexpr unsigned rounds = 20;
    constexpr std::uint32_t vectors = 0x8003'0000;
    RigOptions options = with(monitor, engine);
    options.conditions.interrupt_one_in = interrupt_one_in;
    Rig rig(options);
    for (const std::uint32_t at : {0x18u, 0x1cu}) // a handler that leaves no reservation, as Linux'
        Code(rig.simulation.ram, vectors + at).b(vectors + 0x20);
    Code(rig.simulation.ram, vectors + 0x20).word(clrex).subs(15, 14, 4);
    Watch watch;
    Code code = rig.program(0);
    code.mov(12, vectors).set_vbar(12).mov(6, 0x8004'0000).mov(7, at::fifo).mov(5, rounds);
    code.mov(0, at::wide).mov(3, 3).cpsie_aif();
    watch.load = code.here();
    code.word(ldrex_r1);
    between.write(code);
    watch.store = code.here();
    code.word(strex_r4_r2).nop().subs(5, 5, 1).bne(watch.load).end();
    rig.simulation.meanwhile = [&](Core& core) { watch.see(rig.simulation, core); };
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].ended);
    CHECK(compare_with_bus(rig) == "");
    CHECK(watch.wrong == 0);
    if (between.clears) CHECK(watch.successes == 0);
    else if (between.followed) CHECK(watch.successes == rounds); // interrupts come behind the store
    else if (interrupt_one_in == 0)                              // one finds out the kind of CPU
        CHECK((watch.successes >= rounds - 1) == monitor.keeps());
}

TEST_CASE(
    "in Thumb state, too, a conditional store-exclusive is followed, and CLREX is not forgotten") {
    const auto engine = GENERATE(values(engines));
    const auto monitor = GENERATE(values(monitors));
    const bool clears = GENERATE(false, true);
    const bool equal = GENERATE(false, true);
    CAPTURE(monitor.asked_first, monitor.cleared_by_exceptions, clears, equal);
    Rig rig(with(monitor, engine));
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(2, 0x1234).mov(3, equal ? 0 : 1).mov(4, 77).to_thumb();
    code.wide(0xe850'1f00); // ldrex r1, [r0]
    if (clears) code.wide(0xf3bf'8f2f);
    code.half(0x2b00);                   // cmp r3, #0
    code.half(0xd000).half(0xbf00);      // beq over the next
    code.half(0xbf08).wide(0xe840'2400); // it eq; strexeq r4, r2, [r0]
    code.half(0x2800).to_arm().end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.reg(0, 4) == (!equal ? 77 : clears ? 1 : 0));
    CHECK(rig.bus_log(at::wide, 4).size() == (equal && !clears ? 2 : 1));
}

TEST_CASE("without breakpoints CLREX is seen up to the first condition, and stores succeed") {
    const auto monitor =
        GENERATE(Monitor{false, false}, Monitor{false, true}, Monitor{true, false});
    const Between between = GENERATE(from_range(std::begin(betweens), std::end(betweens)));
    CAPTURE(monitor.asked_first, monitor.cleared_by_exceptions, between.name);
    RigOptions options = with(monitor, abi::EngineKind::emulation);
    options.tree.no_breakpoints = true;
    Rig rig(options);
    Code code = rig.program(0);
    code.mov(6, 0x8004'0000).mov(7, at::fifo).mov(0, at::wide).mov(3, 3).word(ldrex_r1);
    between.write(code);
    code.word(strex_r4_r2).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    // Hyp's locks clear the monitor.
    if (monitor.asked_first && between.name == std::string("another register")) return;
    CHECK(rig.reg(0, 4) == (between.clears ? 1 : 0));
}

TEST_CASE("a handler's CLREX counts while a store-exclusive that was followed waits for the lock",
          "[protocol]") {
    const auto engine = GENERATE(values(engines));
    const auto monitor = GENERATE(values(monitors));
    CAPTURE(monitor.asked_first, monitor.cleared_by_exceptions);
    constexpr std::uint32_t vectors = 0x8003'0000;
    constexpr unsigned another_cpu = 1;
    RigOptions options = with(monitor, engine);
    options.conditions.step_limit = 100'000'000;
    Rig rig(options);
    Code(rig.simulation.ram, vectors + 0x18).word(clrex).subs(15, 14, 4); // IRQ
    Code code = rig.program(0);
    code.mov(12, vectors).set_vbar(12).mov(0, at::wide).mov(4, 77).cpsie_aif();
    code.word(ldrex_r1).nop();
    const std::uint32_t store = code.here();
    code.word(strex_r4_r2).end();
    unsigned handled = 0;
    rig.simulation.meanwhile = [&](Core& core) {
        const Machine& machine = *rig.machine;
        Lock& lock = rig.machine->locks.of(machine.map.find({at::wide})->region).lock;
        std::uint64_t spins = 0;
        if (core.frame.pc == store && handled == 0 && lock.owner() == Lock::no_owner) {
            REQUIRE(lock.try_acquire(another_cpu, 16, spins));
            core.irq_pending = true;
        }
        if (core.frame.pc == vectors + 0x18 && handled++ == 0) lock.release();
    };
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].ended);
    CHECK(handled == 1);
    CHECK(rig.reg(0, 4) == 1);
    CHECK(rig.stores_to(at::wide, 4).empty());
}
