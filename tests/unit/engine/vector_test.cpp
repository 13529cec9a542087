// Instructions with values in VFP and NEON registers, and SWP: one record for each access.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

struct Run {
    std::unique_ptr<Rig> rig;
    std::vector<abi::Record> records;

    std::uint64_t d(unsigned n) const { return rig->simulation.cores[0].vector[n]; }
};

/// Runs `instruction` with the FIFO's address in r0 and D0 to D31 as set by `prepare`.
template <class Prepare>
Run run(abi::EngineKind engine, std::uint32_t instruction, Prepare&& prepare) {
    auto rig = std::make_unique<Rig>(options_for(engine, 1, 7));
    Core& core = rig->simulation.cores[0];
    for (unsigned n = 0; n < 32; ++n) core.vector[n] = 0x1122'3344'5566'7700 + n;
    prepare(core);
    rig->program(0).mov(0, at::fifo).mov(1, 0x89ab'cdef).word(instruction).end();
    rig->run();
    CHECK(rig->failure() == "");
    CHECK(rig->simulation.cores[0].ended);
    CHECK(compare_with_bus(*rig) == "");
    auto records = rig->records_of(abi::RecordType::access);
    return {std::move(rig), std::move(records)};
}

void nothing(Core&) {}

bool known(const abi::Record& r) {
    return (r.flags & abi::flag_value_unknown) == 0;
}

} // namespace

TEST_CASE("VLDR, VLDM and VLD1 make one record for each word, with the register's value") {
    struct Case {
        std::uint32_t instruction;
        unsigned first;
        unsigned words;
    };
    const auto engine = GENERATE(values(engines));
    const auto c = GENERATE(Case{0xedd0'1b00, 17, 2},  // vldr d17, [r0]
                            Case{0xec90'2b04, 2, 4},   // vldmia r0, {d2-d3}
                            Case{0xecb0'0b20, 0, 32},  // vldmia r0!, {d0-d15}
                            Case{0xf460'f70f, 31, 2}); // vld1.8 {d31}, [r0]
    const Run r = run(engine, c.instruction, nothing);
    REQUIRE(r.records.size() == c.words);
    for (unsigned n = 0; n < c.words; ++n) {
        CHECK(known(r.records[n]));
        CHECK(abi::physical_address(r.records[n]) == at::fifo + 4 * n);
        CHECK(r.records[n].value ==
              static_cast<std::uint32_t>(r.d(c.first + n / 2) >> 32 * (n % 2)));
        CHECK(((r.records[n].flags & abi::flag_same_instruction) != 0) == (n != 0));
    }
}

TEST_CASE("a single register, or a single lane, makes one record") {
    const auto engine = GENERATE(values(engines));
    const Run single = run(engine, 0xedd0'0a00, nothing); // vldr s1, [r0]
    REQUIRE(single.records.size() == 1);
    CHECK(single.records[0].value == single.d(0) >> 32);
    const Run lane = run(engine, 0xf4e0'306f, nothing); // vld1.8 {d19[3]}, [r0]
    REQUIRE(lane.records.size() == 1);
    CHECK(abi::access_size(lane.records[0]) == 1);
    CHECK(lane.records[0].value == (lane.d(19) >> 24 & 0xff));
}

TEST_CASE("VSTR, VSTM and VST1 make one record for each word, with the register's value") {
    const auto engine = GENERATE(values(engines));
    const Run r = run(engine, 0xed60'0b04, nothing); // vstmdb r0!, {d16-d17}: below the FIFO
    CHECK(r.records.empty());
    const Run up = run(engine, 0xeca0'5b04, nothing); // vstmia r0!, {d5-d6}
    REQUIRE(up.records.size() == 4);
    CHECK(up.records[0].value == 0x5566'7705);
    CHECK(up.records[3].value == 0x1122'3344);
    CHECK(up.rig->reg(0, 0) == at::fifo + 16);
}

TEST_CASE("SWP and SWPB make a read and a write") {
    const auto engine = GENERATE(values(engines));
    const auto [instruction, mask] =
        GENERATE(std::pair{0xe100'2091u, 0xffff'ffffu}, std::pair{0xe140'1091u, 0xffu});
    const Run r = run(engine, instruction, nothing); // swp r2, r1, [r0]; swpb r1, r1, [r0]
    REQUIRE(r.records.size() == 2);
    CHECK(!abi::is_write(r.records[0]));
    CHECK(abi::is_write(r.records[1]));
    CHECK(abi::physical_address(r.records[1]) == at::fifo);
    CHECK(r.records[0].value == (0x8004'8083 & mask));
    CHECK(r.records[1].value == (0x89ab'cdef & mask));
}

TEST_CASE("where VFP is not allowed, Hyp does not touch it, and the value is unknown") {
    constexpr std::uint32_t vldr_d17 = 0xedd0'1b00;
    const auto engine = GENERATE(values(engines));
    SECTION("FPEXC.EN") {
        const Run r = run(engine, vldr_d17, [](Core& core) { core.fpexc = 0; });
        REQUIRE(!r.records.empty());
        CHECK(!known(r.records[0]));
    }
    SECTION("sixteen registers") {
        const Run r = run(engine, vldr_d17, [](Core& core) { core.vector_registers = 16; });
        REQUIRE(!r.records.empty());
        CHECK(!known(r.records[0]));
    }
    SECTION("NSACR") {
        const Run r = run(engine, vldr_d17, [](Core& core) { core.system.set<reg::NSACR>(0); });
        REQUIRE(!r.records.empty());
        CHECK(!known(r.records[0]));
    }
    SECTION("CPACR.D32DIS") {
        const Run r =
            run(engine, vldr_d17, [](Core& core) { core.system.set<reg::CPACR>(1u << 30); });
        REQUIRE(!r.records.empty());
        CHECK(!known(r.records[0]));
    }
}
