// Exclusive pairs on a traced page: engine/exclusive.cpp takes and releases the same locks.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"
#include "sim/storm.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

TEST_CASE("CPUs with exclusive pairs at one register leave no lock behind", "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        CAPTURE(seed);
        Rig rig(options_for(engine, 2, seed));
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            Code code = rig.program(cpu);
            code.mov(0, at::wide + 8).mov(2, cpu + 1);
            for (unsigned i = 0; i < 5; ++i)
                code.word(0xe190'1f9f).word(0xe180'3f92).ldr(4, 0, 8); // ldrex, strex
            code.end();
        }
        rig.run();
        REQUIRE(judge_machine(rig) == "");
        REQUIRE(compare_with_bus(rig) == "");
    }
}
