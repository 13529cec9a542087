// Loops of load-exclusive and store-exclusive on CPUs whose monitors differ where A8.8.212 allows
// it: each ends that Hyp can follow; others end, or are reported.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t ldrex_r1 = 0xe190'1f9f;    // from [r0]
constexpr std::uint32_t strex_r4_r2 = 0xe180'4f92; // to [r0]
constexpr std::uint32_t mrc_r8 = 0xee1d'8f70; // TPIDRURO: Hyp does not follow the guest over it

struct Monitor {
    bool asked_first;
    bool cleared_by_traps;
};

RigOptions with(Monitor monitor, abi::EngineKind engine) {
    RigOptions options = options_for(engine, 1, 5);
    options.conditions.monitor_asked_first = monitor.asked_first;
    options.conditions.exceptions_clear_monitor = monitor.cleared_by_traps;
    return options;
}

/// Runs `body` `rounds` times; r0 is a word of a device, r3 another. `before`: number of times that
/// the load-exclusive at the loop's start seems to have been executed in a row.
struct Run {
    template <class Body>
    Run(const RigOptions& options, std::uint32_t rounds, std::uint32_t before, Body&& body)
        : rig(options) {
        Code code = rig.program(0);
        code.mov(0, at::wide).mov(3, at::fifo).mov(2, 0x1234).mov(4, 77).mov(5, rounds);
        pc = code.here();
        body(code);
        code.subs(5, 5, 1).bne(pc).end();
        rig.simulation.meanwhile = [=, this](Core&) {
            RepeatedLoad& load = rig.machine->cpus[0].repeated_load;
            for (std::uint32_t n = begun ? before : 0; n < before; ++n) load.count(pc, {at::wide});
            begun = true;
        };
        rig.run();
        CHECK(rig.failure() == "");
        CHECK(rig.simulation.cores[0].ended);
        CHECK(compare_with_bus(rig) == "");
        faults = rig.records_of(abi::RecordType::fault);
    }

    Rig rig;
    std::uint32_t pc{};
    bool begun{};
    std::vector<abi::Record> faults;
};

} // namespace

TEST_CASE("a row of load-exclusives is reported every 65,536 times") {
    RepeatedLoad load;
    unsigned reported = 0;
    for (unsigned n = 0; n < 3 * 65'536 - 1; ++n) reported += load.count(0x100, {at::wide}) ? 1 : 0;
    CHECK(reported == 2);
    CHECK(load.count(0x100, {at::wide}));
    for (unsigned n = 0; n < 65'535; ++n) reported += load.count(0x100, {at::wide}) ? 1 : 0;
    SECTION("another instruction") {
        CHECK(!load.count(0x104, {at::wide}));
    }
    SECTION("another address") {
        CHECK(!load.count(0x100, {at::wide + 4}));
    }
    SECTION("something else") {
        load.end();
    }
    for (unsigned n = 0; n < 65'535; ++n) reported += load.count(0x100, {at::wide}) ? 1 : 0;
    CHECK(reported == 2);
    CHECK(load.count(0x100, {at::wide}));
}

TEST_CASE(
    "whatever else a CPU does with its monitor, store-exclusives succeed and nothing is reported") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const auto monitor = GENERATE(Monitor{false, false}, Monitor{false, true}, Monitor{true, false},
                                  Monitor{true, true});
    const Run run(with(monitor, engine), 10, RepeatedLoad::row - 5,
                  [](Code& c) { c.word(ldrex_r1).word(strex_r4_r2); });
    CHECK(run.rig.reg(0, 4) == 0);
    CHECK(run.rig.bus_log(at::wide, 4).size() == 20);
    CHECK(run.faults.empty());
}

TEST_CASE("a store-exclusive that fails for ever is reported and left alone") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const auto monitor = GENERATE(Monitor{true, true}, Monitor{false, true}, Monitor{false, false});
    const Run run(with(monitor, engine), 10, RepeatedLoad::row - 5,
                  [](Code& c) { c.word(ldrex_r1).word(mrc_r8).word(strex_r4_r2); });
    CHECK(run.rig.reg(0, 4) == 1);
    CHECK(run.rig.bus_log(at::wide, 4).size() == 10); // ten loads, no store
    REQUIRE(run.faults.size() == 1);
    const abi::Record& fault = run.faults[0];
    CHECK(fault.value == static_cast<std::uint64_t>(abi::FaultReason::no_progress));
    CHECK(fault.pc == run.pc);
    CHECK(fault.va == at::wide);
    CHECK(abi::physical_address(fault) == at::wide);
    CHECK(fault.device == run.rig.records_of(abi::RecordType::access).back().device);
    CHECK(!abi::is_write(fault));
}

TEST_CASE("a no-progress report takes 65,536 load-exclusives that the guest executes") {
    RigOptions options = with({true, true}, abi::EngineKind::shadow);
    options.conditions.step_limit = 100'000'000;
    options.tree.area_size = 6 << 20; // for all records
    const Run run(options, RepeatedLoad::row + 10, 0,
                  [](Code& c) { c.word(ldrex_r1).word(mrc_r8).word(strex_r4_r2); });
    REQUIRE(run.faults.size() == 1);
    const auto& records = run.rig.records(0);
    const auto accesses = [](auto begin, auto end) {
        return std::count_if(begin, end,
                             [](const auto& r) { return r.type == abi::RecordType::access; });
    };
    const auto reported = std::find_if(records.begin(), records.end(), [](const auto& r) {
        return r.type == abi::RecordType::fault;
    });
    CHECK(accesses(records.begin(), reported) == RepeatedLoad::row);
    CHECK(accesses(reported, records.end()) == 10);
}

TEST_CASE("a loop that does something else on a device is not reported", "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const Run run(with({true, true}, engine), 10, RepeatedLoad::row - 2,
                  [](Code& c) { c.word(ldrex_r1).word(mrc_r8).word(strex_r4_r2).ldr(1, 3); });
    CHECK(run.faults.empty());
}

TEST_CASE("an interrupt handler that uses a device does not hide an endless loop") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    constexpr std::uint32_t system_mode = 0x1f;
    constexpr std::uint32_t supervisor = 0x13;
    const Run run(with({true, true}, engine), 10, RepeatedLoad::row - 5, [](Code& c) {
        c.word(ldrex_r1).word(mrc_r8).word(strex_r4_r2).cps(system_mode).ldr(1, 3).cps(supervisor);
    });
    CHECK(run.faults.size() == 1);
}

TEST_CASE("a load-exclusive without a store costs other code at most 64 slow accesses") {
    constexpr std::uint32_t system_mode = 0x1f, supervisor = 0x13, loads = 10'000;
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    RigOptions options = options_for(engine, 1, 1);
    options.conditions.exclusives_fail_one_in = 0;
    options.tree.policy = "flight";
    Rig rig(options);
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(3, at::fifo + 4).mov(5, loads);
    code.cps(system_mode).word(ldrex_r1).cps(supervisor);
    const std::uint32_t top = code.here();
    code.ldr(1, 3).subs(5, 5, 1).bne(top).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.bus_log(at::fifo, 8).size() == loads);
    const unsigned traps = engine == abi::EngineKind::shadow ? 2 : 1; // of a slow access
    const unsigned at_first = 8; // the load-exclusive and its first run, and the way to the loop
    CHECK(rig.simulation.slow_traps > RepeatedLoad::others * traps);
    CHECK(rig.simulation.slow_traps < RepeatedLoad::others * traps + at_first);
}
