// Thumb instructions of both lengths, inside and outside of IT blocks. Encodings: GNU as.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

template <class Write>
std::unique_ptr<Rig> run_thumb(abi::EngineKind engine, Write&& write) {
    auto rig = std::make_unique<Rig>(options_for(engine, 1, 3));
    Code code = rig->program(0);
    code.mov(0, at::fifo).mov(1, 0x1234'89ab).mov(2, 4).to_thumb();
    write(code);
    code.end_thumb();
    rig->run();
    CHECK(rig->failure() == "");
    CHECK(rig->simulation.cores[0].ended);
    CHECK(compare_with_bus(*rig) == "");
    return rig;
}

constexpr std::uint16_t nop = 0xbf00;

} // namespace

TEST_CASE("Thumb loads of each size and sign") {
    struct Case {
        std::uint32_t instruction; ///< 16 or 32 bits, into r1 or r8
        std::uint32_t in_register;
        std::uint64_t on_bus;
    };
    const auto engine = GENERATE(values(engines));
    const auto c = GENERATE(Case{0x6841, 0x8004'8083, 0x8004'8083},       // ldr r1, [r0, #4]
                            Case{0x78c1, 0x83, 0x83},                     // ldrb r1, [r0, #3]
                            Case{0x8841, 0x8083, 0x8083},                 // ldrh r1, [r0, #2]
                            Case{0x5681, 0xffff'ff83, 0x83},              // ldrsb r1, [r0, r2]
                            Case{0x5e81, 0xffff'8083, 0x8083},            // ldrsh r1, [r0, r2]
                            Case{0xf8d0'8008, 0x8004'8083, 0x8004'8083},  // ldr.w r8, [r0, #8]
                            Case{0xf890'8008, 0x83, 0x83},                // ldrb.w r8, [r0, #8]
                            Case{0xf8b0'8008, 0x8083, 0x8083},            // ldrh.w r8, [r0, #8]
                            Case{0xf990'8008, 0xffff'ff83, 0x83},         // ldrsb.w r8, [r0, #8]
                            Case{0xf9b0'8008, 0xffff'8083, 0x8083},       // ldrsh.w r8, [r0, #8]
                            Case{0xf850'8b04, 0x8004'8083, 0x8004'8083}); // ldr r8, [r0], #4
    const bool wide = c.instruction > 0xffff;
    const bool after_nop = GENERATE(false, true); // both halves of a word
    const auto rig = run_thumb(engine, [&](Code& code) {
        if (after_nop) code.half(nop);
        if (wide) code.wide(c.instruction);
        else code.half(static_cast<std::uint16_t>(c.instruction));
    });
    CHECK(rig->reg(0, wide ? 8 : 1) == c.in_register);
    const auto accesses = rig->records_of(abi::RecordType::access);
    REQUIRE(accesses.size() == 1);
    CHECK(accesses[0].value == c.on_bus);
    CHECK(accesses[0].mode == (0x13 | abi::mode_thumb));
}

TEST_CASE("Thumb stores of each size") {
    struct Case {
        std::uint32_t instruction;
        std::uint64_t on_bus;
    };
    const auto engine = GENERATE(values(engines));
    const auto c = GENERATE(Case{0x6041, 0x1234'89ab},      // str r1, [r0, #4]
                            Case{0x70c1, 0xab},             // strb r1, [r0, #3]
                            Case{0x8041, 0x89ab},           // strh r1, [r0, #2]
                            Case{0xf8c0'1008, 0x1234'89ab}, // str.w r1, [r0, #8]
                            Case{0xf880'1008, 0xab},        // strb.w r1, [r0, #8]
                            Case{0xf8a0'1008, 0x89ab});     // strh.w r1, [r0, #8]
    const auto rig = run_thumb(engine, [&](Code& code) {
        if (c.instruction > 0xffff) code.wide(c.instruction);
        else code.half(static_cast<std::uint16_t>(c.instruction));
    });
    const auto accesses = rig->records_of(abi::RecordType::access);
    REQUIRE(accesses.size() == 1);
    CHECK(accesses[0].value == c.on_bus);
}

TEST_CASE("a Thumb store uses the instruction's register where HSR names another (erratum 766422)",
          "[protocol]") {
    RigOptions options = options_for(GENERATE(values(engines)), 1, 3);
    options.conditions.mistakes_thumb_stores = true;
    Rig rig(options);
    Code code = rig.program(0);
    code.mov(0, at::gadget).mov(1, 0x1234'89ab).mov(2, 0x5555).to_thumb();
    code.half(0x6041)
        .wide(0xf8c0'2008)
        .half(0x6843); // str r1, [r0, #4]; str.w r2, [r0, #8]; ldr r3
    code.end_thumb();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    const auto accesses = rig.records_of(abi::RecordType::access);
    REQUIRE(accesses.size() == 3);
    CHECK(accesses[0].value == 0x1234'89ab);
    CHECK(accesses[1].value == 0x5555);
}

TEST_CASE("Thumb LDM and LDRD make one record for each word") {
    const auto rig = run_thumb(GENERATE(values(engines)), [](Code& code) {
        code.wide(0xe9d0'8902); // ldrd r8, r9, [r0, #8]
        code.wide(0xe890'0300); // ldm.w r0, {r8, r9}
        code.half(0xc806);      // ldm r0!, {r1, r2}
    });
    const auto accesses = rig->records_of(abi::RecordType::access);
    REQUIRE(accesses.size() == 6);
    CHECK(accesses[3].value == rig->reg(0, 9));
    CHECK(accesses[5].value == rig->reg(0, 2));
    CHECK(rig->reg(0, 0) == at::fifo + 8);
}

TEST_CASE("IT blocks continue correctly after accesses at every place of a block") {
    const auto rig = run_thumb(GENERATE(values(engines)), [](Code& code) {
        code.half(0x2105).half(0x2905);              // movs r1, #5; cmp r1, #5
        code.half(0xbf08).half(0x6802);              // it eq: ldreq r2, [r0]
        code.half(0xbf14).half(0x6803).half(0x8804); // ite ne: ldrne r3, [r0]; ldrheq r4, [r0]
        code.half(0xbf02).half(0x7845);              // ittt eq: ldrbeq r5, [r0, #1]
        code.wide(0xf990'6000).half(0x3701);         // ldrsbeq.w r6, [r0]; addeq r7, #1
        code.half(0x3701);                           // add r7, #1, outside
    });
    const auto accesses = rig->records_of(abi::RecordType::access);
    REQUIRE(accesses.size() == 4); // not the `ne`
    CHECK(rig->reg(0, 2) == 0x8004'8083);
    CHECK(rig->reg(0, 3) == 0);
    CHECK(rig->reg(0, 4) == 0x8186);
    CHECK(rig->reg(0, 5) == 0x89);
    CHECK(rig->reg(0, 6) == 0xffff'ff8c);
    CHECK(rig->reg(0, 7) == 2);
    CHECK((rig->simulation.cores[0].frame.psr & 0x0600'fc00) == 0); // no ITSTATE left
}
