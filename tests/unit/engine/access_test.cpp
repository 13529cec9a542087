// Single accesses, carried out by either engine: the guest's result, and the trace.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

/// Runs `write`'s program on one CPU, with everything traced, and checks all invariants.
template <class Write>
std::unique_ptr<Rig> run(abi::EngineKind engine, Write&& write, std::uint64_t seed = 1) {
    auto rig = std::make_unique<Rig>(options_for(engine, 1, seed));
    Code code = rig->program(0);
    write(code);
    rig->run();
    CHECK(rig->failure() == "");
    CHECK(rig->simulation.cores[0].ended);
    CHECK(compare_with_bus(*rig) == "");
    return rig;
}

const abi::Record& only_access(const std::vector<abi::Record>& records) {
    REQUIRE(records.size() == 1);
    return records[0];
}

} // namespace

TEST_CASE("a load of each size and sign extends into its register and is recorded as on the bus") {
    const auto engine = GENERATE(values(engines));
    struct Case {
        Code& (Code::*load)(unsigned, unsigned, unsigned);
        std::uint32_t in_register;
        std::uint64_t on_bus;
    };
    // The FIFO's first number is 0x80048083.
    const auto c =
        GENERATE(Case{&Code::ldr, 0x8004'8083, 0x8004'8083}, Case{&Code::ldrh, 0x8083, 0x8083},
                 Case{&Code::ldrb, 0x83, 0x83}, Case{&Code::ldrsh, 0xffff'8083, 0x8083},
                 Case{&Code::ldrsb, 0xffff'ff83, 0x83});
    const auto rig =
        run(engine, [&](Code& code) { (code.mov(0, at::fifo).*c.load)(1, 0, 8).end(); });
    const auto accesses = rig->records_of(abi::RecordType::access);
    const abi::Record& r = only_access(accesses);
    CHECK(rig->reg(0, 1) == c.in_register);
    CHECK(r.value == c.on_bus);
    CHECK(abi::physical_address(r) == at::fifo + 8);
    CHECK(((r.access & abi::access_emulated) != 0) == (engine == abi::EngineKind::emulation));
}

TEST_CASE("a store of each size puts the register's low bytes on the bus") {
    const auto engine = GENERATE(values(engines));
    struct Case {
        Code& (Code::*store)(unsigned, unsigned, unsigned);
        unsigned size;
        std::uint64_t on_bus;
    };
    const auto c = GENERATE(Case{&Code::str, 4, 0x1234'89ab}, Case{&Code::strh, 2, 0x89ab},
                            Case{&Code::strb, 1, 0xab});
    const auto rig = run(engine, [&](Code& code) {
        (code.mov(0, at::fifo).mov(1, 0x1234'89ab).*c.store)(1, 0, 4).end();
    });
    const auto accesses = rig->records_of(abi::RecordType::access);
    const abi::Record& r = only_access(accesses);
    CHECK(r.value == c.on_bus);
    CHECK(abi::access_size(r) == c.size);
    CHECK(abi::is_write(r));
}

TEST_CASE("a record has PC, LR, SP, mode and task") {
    const auto engine = GENERATE(values(engines));
    Rig rig(options_for(engine, 1, 1));
    rig.simulation.cores[0].bank(port::Banked::sp_svc) = 0x8010'0000;
    rig.simulation.cores[0].bank(port::Banked::lr_svc) = 0xc0de;
    Code code = rig.program(0);
    code.mov(0, at::fifo);
    const std::uint32_t pc = code.here();
    code.ldr(1, 0).end();
    rig.run();
    const auto accesses = rig.records_of(abi::RecordType::access);
    const abi::Record& r = only_access(accesses);
    CHECK(r.pc == pc);
    CHECK(r.sp == 0x8010'0000);
    CHECK(r.lr == 0xc0de);
    CHECK(r.mode == 0x13);
    CHECK(r.va == at::fifo);
}

TEST_CASE("User mode is traced with its own stack pointer, and its task by SP_svc") {
    const auto engine = GENERATE(values(engines));
    Rig rig(options_for(engine, 1, 1));
    rig.simulation.cores[0].bank(port::Banked::sp_svc) = 0x8010'0000;
    rig.simulation.cores[0].bank(port::Banked::sp_usr) = 0x4000'0000;
    rig.program(0).mov(0, at::fifo).cps(0x10).ldr(14, 0).end();
    rig.run();
    CHECK(compare_with_bus(rig) == "");
    const auto accesses = rig.records_of(abi::RecordType::access);
    const abi::Record& r = only_access(accesses);
    CHECK(r.sp == 0x4000'0000);
    CHECK(r.task == 0x8010'0000);
    CHECK(r.mode == 0x10);
    CHECK(rig.simulation.cores[0].frame.lr_usr == 0x8004'8083);
}

namespace {

/// A load from SVC mode, then a load and a store from User mode.
void write_both_modes(Code code) {
    code.mov(0, at::fifo).ldr(1, 0).cps(0x10).ldr(2, 0).str(2, 0, 4).end();
}

} // namespace

TEST_CASE(
    "accesses of User mode that Hyp carries out are counted: they are privileged on the bus") {
    const auto engine = GENERATE(values(engines));
    const bool emulates = engine == abi::EngineKind::emulation;
    Rig rig(options_for(engine, 1, 1));
    write_both_modes(rig.program(0));
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == 3);
    CHECK(rig.ring(0).statistics.emulated == (emulates ? 3 : 0));
    CHECK(rig.ring(0).statistics.emulated_user == (emulates ? 2 : 0));
}

TEST_CASE("an access that the bus answers with an error counts as User's, too") {
    Rig rig(options_for(abi::EngineKind::emulation, 1, 1));
    rig.program(0).mov(0, at::broken).cps(0x10).ldr(2, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 1); // the handler ran
    CHECK(rig.ring(0).statistics.emulated_user == 1);
}

TEST_CASE(
    "behind a firewall that knows privileged accesses, the guest makes User's accesses itself",
    "[protocol]") {
    RigOptions options = options_for(abi::EngineKind::emulation, 1, 1);
    options.tree.user_firewall = true;
    Rig rig(options);
    write_both_modes(rig.program(0));
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    const auto accesses = rig.records_of(abi::RecordType::access);
    REQUIRE(accesses.size() == 3);
    for (const abi::Record& r : accesses)
        CHECK(((r.access & abi::access_emulated) != 0) == (r.mode != 0x10));
    CHECK(rig.ring(0).statistics.emulated == 1);
    CHECK(rig.ring(0).statistics.stepped == 2);
    CHECK(rig.ring(0).statistics.emulated_user == 0);
}

TEST_CASE(
    "Hyp makes the accesses that make no record, with either engine, if they are the kernel's") {
    struct Place {
        const char* traced;
        std::uint32_t untraced;
        bool memory;
    };
    const auto engine = GENERATE(values(engines));
    const Place place = GENERATE(values<Place>({{"0x1c130000+0x100", at::fifo + 0x800, false},
                                                {"none", at::sysreg + 0xa0, false},
                                                {"0x18000000+0x100", at::sram + 0x200, true}}));
    RigOptions options = options_for(engine, 1, 1);
    options.tree.trace = {place.traced};
    Rig rig(options);
    rig.program(0).mov(0, place.untraced).ldr(1, 0).ldm(0, 6).cps(0x10).ldr(2, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.bus_log(place.untraced, 8).size() == 4);
    CHECK(rig.records_of(abi::RecordType::access).empty());
    const abi::Statistics& counted = rig.ring(0).statistics;
    CHECK(counted.unselected == 3);
    const unsigned by_hyp = engine == abi::EngineKind::emulation ? 2 : place.memory ? 0 : 1;
    CHECK(counted.emulated == by_hyp);
    CHECK(counted.stepped == 3 - by_hyp);
}

TEST_CASE("writeback is done by the guest's own instruction") {
    const auto rig = run(GENERATE(values(engines)), [](Code& code) {
        code.mov(0, at::fifo).ldr_post(1, 0, 4).mov(2, 7).str_post(2, 0, 8).end();
    });
    CHECK(rig->reg(0, 0) == at::fifo + 12);
    CHECK(rig->reg(0, 1) == 0x8004'8083);
    CHECK(rig->records_of(abi::RecordType::access).size() == 2);
}

TEST_CASE("LDM, STM, LDRD and STRD make one record for each word") {
    const auto rig = run(GENERATE(values(engines)), [](Code& code) {
        code.mov(0, at::fifo).ldm(0, 0x000e).ldrd(4, 0, 16).stm(0, 0x000e).strd(4, 0, 8).end();
    });
    const auto accesses = rig->records_of(abi::RecordType::access);
    REQUIRE(accesses.size() == 3 + 2 + 3 + 2);
    CHECK(accesses[0].value == rig->reg(0, 1));
    CHECK(accesses[2].value == rig->reg(0, 3));
    CHECK((accesses[0].flags & abi::flag_same_instruction) == 0);
    CHECK((accesses[1].flags & abi::flag_same_instruction) != 0);
    CHECK(rig->reg(0, 2) == 0x8007'8186);
}

TEST_CASE("an instruction that fails its condition touches nothing") {
    constexpr std::uint32_t ldreq_r1_r0 = 0x0590'1000;
    const auto rig = run(GENERATE(values(engines)), [](Code& code) {
        code.mov(0, at::fifo).mov(1, 5).subs(2, 1, 1).word(ldreq_r1_r0).end();
    });
    CHECK(rig->records_of(abi::RecordType::access).empty());
    CHECK(rig->reg(0, 1) == 5);
}
