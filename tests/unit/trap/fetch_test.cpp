// Instructions that HSR does not describe are read from the guest's memory.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

TEST_CASE("an instruction is decoded as the guest wrote it, whatever is only in its cache") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    Rig rig(options_for(engine, 1, 1));
    Code code = rig.program(0);
    code.mov(0, at::wide + 8).mov(1, 0).mov(2, 0).mov(3, 33).mov(4, 44).stm(0, 0x0018);
    const std::uint32_t load = code.here();
    code.ldm(0, 0x0006).end();
    constexpr std::uint32_t ldr_r1 = 0xe490'1004; // LDR r1, [r0], #4
    rig.simulation.stale_words[load] = ldr_r1;
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 33);
    CHECK(rig.reg(0, 2) == 44);
    CHECK(rig.records_of(abi::RecordType::access).size() == 4);
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.simulation.stale_words.empty());
}
