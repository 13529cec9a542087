// A write that ends the machine: what is still in a store buffer then is lost.
#include "sim/judge.hpp"
#include "sim/storm.hpp"

#include <catch2/catch.hpp>

using namespace mmioscope;
using namespace mmioscope::sim;

TEST_CASE("the write that switches the machine off is recorded in memory before it happens",
          "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    for (std::uint64_t seed = 1; seed <= seeds(30); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(engine, 1, seed);
        options.conditions.late_one_in = 6;
        Rig rig(options);
        rig.program(0).mov(0, at::sysreg).mov(1, 0xc080'0000).str(1, 0, 0xa4).ldr(2, 0, 0xa4).end();
        rig.run();
        REQUIRE(judge_machine(rig) == "");
        REQUIRE(compare_with_bus(rig) == "");
        REQUIRE(rig.simulation.bus.log().back().address == at::sysreg + 0xa4);
    }
}
