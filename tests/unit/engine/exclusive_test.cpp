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

struct Run {
    std::unique_ptr<Rig> rig;
    std::vector<abi::Record> records;

    std::uint32_t r(unsigned n) const { return rig->reg(0, n); }
};

/// r0: a word of a device; r2, r3: values to store.
template <class Write>
Run run(abi::EngineKind engine, Write&& write) {
    auto rig = std::make_unique<Rig>(options_for(engine, 1, 5));
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
    RigOptions options = options_for(GENERATE(values(engines)), 1, 5);
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
    Rig rig(options_for(engine, 1, 5));
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
    const auto seed = GENERATE(range(1u, 6u));
    constexpr unsigned cpus = 3;
    constexpr unsigned rounds = 20;
    Rig rig(options_for(engine, cpus, seed));
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
