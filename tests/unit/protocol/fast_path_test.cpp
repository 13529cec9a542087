// The fast path (engine/fast_path.hpp) records what the slow one records. That it is taken shows in
// what an access costs (tests/bench).
#include "sim/judge.hpp"

#include <catch2/catch.hpp>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// Loads and stores of one register: each size and sign, any register that may be, in SVC mode or
/// User mode, a whole page's, part of a page's, next to an unnamed address, aborted, not aligned.
void write_program(Code& code, Random& random) {
    constexpr std::uint32_t bases[] = {at::fifo,      at::fifo + 0x800, at::gadget + 0xf0,
                                       at::neighbour, at::wide + 0xff8, at::wide + 0x2ff0,
                                       at::console,   at::broken,       at::sysreg + 0x80};
    for (unsigned i = 0; i < 40; ++i) {
        if (i == 20 && random.one_in(2)) code.cps(0x10);
        const auto skew = static_cast<std::uint32_t>(random.one_in(16) ? random.below(4) : 0);
        code.mov(0, bases[random.below(std::size(bases))] + skew);
        const auto reg = static_cast<unsigned>(random.one_in(8) ? 14 : 1 + random.below(7));
        switch (random.below(8)) {
        case 0: code.ldr(reg, 0, 4); break;
        case 1: code.str(reg, 0, 4); break;
        case 2: code.ldrb(reg, 0, 1); break;
        case 3: code.strb(reg, 0, 3); break;
        case 4: code.ldrh(reg, 0, 2); break;
        case 5: code.strh(reg, 0, 0); break;
        case 6: code.ldrsb(reg, 0, 0); break;
        default: code.ldrsh(reg, 0, 4); break;
        }
    }
    code.end();
}

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

std::unique_ptr<Rig> run(abi::EngineKind engine, unsigned cpus, std::uint64_t seed,
                         bool slow_path) {
    RigOptions options = options_for(engine, cpus, seed);
    options.tree.slow_path = slow_path;
    options.tree.policy = seed % 3 == 0 ? "flight" : "drop";
    auto rig = std::make_unique<Rig>(options);
    Random random(seed);
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        rig->simulation.cores[cpu].bank(port::Banked::sp_svc) = 0x8010'0000 + 0x100 * cpu;
        rig->simulation.cores[cpu].bank(port::Banked::sp_usr) = 0x4000'0000;
        Code code = rig->program(cpu);
        write_program(code, random);
    }
    rig->run();
    REQUIRE(rig->failure() == "");
    REQUIRE(compare_with_bus(*rig) == "");
    return rig;
}

/// Without what tells how long it took, which differs.
std::vector<std::byte> timeless(abi::Record record) {
    record.time = record.duration = 0;
    const auto* bytes = reinterpret_cast<const std::byte*>(&record);
    return {bytes, bytes + sizeof record};
}

} // namespace

TEST_CASE("the fast path records what the slow one does", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed) {
        CAPTURE(seed);
        const auto fast = run(engine, 1, seed, false);
        const auto slow = run(engine, 1, seed, true);
        const auto& records = fast->records(0);
        REQUIRE(records.size() == slow->records(0).size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            CAPTURE(i);
            REQUIRE(timeless(records[i]) == timeless(slow->records(0)[i]));
        }
        for (unsigned n = 0; n < 13; ++n) REQUIRE(fast->reg(0, n) == slow->reg(0, n));
        const abi::Statistics& counted = fast->ring(0).statistics;
        const abi::Statistics& expected = slow->ring(0).statistics;
        REQUIRE(counted.traps == expected.traps);
        REQUIRE(counted.emulated == expected.emulated);
        REQUIRE(counted.emulated_user == expected.emulated_user);
        REQUIRE(counted.stepped == expected.stepped);
        REQUIRE(counted.abnormal == expected.abnormal);
    }
}

TEST_CASE("CPUs on the fast path have their accesses in the order of the bus", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(30); ++seed) {
        CAPTURE(seed);
        run(engine, 3, seed, false);
    }
}

TEST_CASE("a stream has each access take the slow path, which serves it", "[protocol]") {
    for (const bool streams : {false, true}) {
        RigOptions options = options_for(abi::EngineKind::emulation, 1, 1);
        if (streams) options.tree.stream = "serial0";
        Rig rig(options);
        rig.program(0).end();
        rig.run();
        CHECK(rig.failure() == "");
        CHECK(rig.machine->cpus[0].always_slow == streams);
    }
}
