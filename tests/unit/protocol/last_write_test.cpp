// A write that ends the machine: what is still in a store buffer then is lost.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"
#include "sim/storm.hpp"
#include "unit/stream/streaming.hpp"

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

// An emulator goes on for some ms. What the guest does meanwhile would be in the stream in part.
TEST_CASE("with a stream, the guest goes on behind that write after a second only", "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    for (std::uint64_t seed = 1; seed <= seeds(30); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(engine, 1, seed);
        options.conditions.stopped_one_in = 1000; // so that a second takes few points
        options.conditions.ticks_of_stop = 20'000'000;
        StreamingRig rig(options);
        rig.simulation.bus.attach({at::sysreg, at::sysreg + 0x1000}, std::make_unique<Scratch>());
        std::uint64_t written = 0, read = 0;
        rig.simulation.bus.on_arrival = [&](const BusAccess& access) {
            if (access.address == at::sysreg + 0xa4)
                (access.write ? written : read) = rig.simulation.now();
        };
        Code code = rig.program(0);
        code.mov(0, at::sysreg).mov(1, 0xc080'0000).mov(3, at::fifo + 8);
        for (unsigned n = 0; n < seed % 7; ++n)
            code.ldr(4, 3); // the turn may come before the write
        code.str(1, 0, 0xa4).ldr(2, 0, 0xa4).end();
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(read - written > rig.machine->area->counter_frequency / 2);
    }
}
