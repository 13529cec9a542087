// Several CPUs use the same registers under many schedules: the trace must equal the bus log.
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

std::uint32_t sum_of_reads(const Rig& rig, unsigned cpu) {
    std::uint64_t sum = 0;
    for (const abi::Record& r : rig.records(cpu))
        if (r.type == abi::RecordType::access && !abi::is_write(r)) sum += r.value;
    return static_cast<std::uint32_t>(sum);
}

void check(const Rig& rig, unsigned cpus, unsigned accesses) {
    REQUIRE(rig.failure() == "");
    REQUIRE(compare_with_bus(rig) == "");
    REQUIRE(check_table_history(rig, all_device_pages(), never_mapped()) == "");
    for (unsigned i = 0; i < cpus; ++i) {
        REQUIRE(rig.simulation.cores[i].ended);
        REQUIRE(rig.reg(i, 3) == sum_of_reads(rig, i));
        REQUIRE(rig.ring(i).in_flight == abi::InFlight::none);
    }
    REQUIRE(rig.bus_log(at::fifo, 0x1000).size() + rig.bus_log(at::gadget, 0x100).size() ==
            accesses * cpus);
}

} // namespace

TEST_CASE("CPUs that hammer the same registers leave a trace equal to the bus log") {
    const auto engine = GENERATE(values(engines));
    const unsigned cpus = GENERATE(2u, 4u);
    constexpr unsigned rounds = 12;
    for (std::uint64_t seed = 1; seed <= seeds(15); ++seed) {
        CAPTURE(seed, cpus);
        RigOptions options = options_for(engine, cpus, seed);
        options.conditions.interrupt_one_in = seed % 3 == 0 ? 0 : 30;
        Rig rig(options);
        for (unsigned i = 0; i < cpus; ++i) write_hammer(rig.program(i), rounds);
        rig.run();
        check(rig, cpus, rounds * hammer_accesses);
    }
}

TEST_CASE("a device access by one CPU never opens the page for another") {
    // CPU 1 only reads while CPU 0 is always being stepped; each of its reads must be recorded.
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        Rig rig(options_for(abi::EngineKind::shadow, 2, seed));
        for (unsigned i = 0; i < 2; ++i) {
            Code code = rig.program(i);
            code.mov(0, at::fifo).mov(2, 30);
            const std::uint32_t top = code.here();
            if (i == 0) code.strd(4, 0, 8);
            else code.nop().ldr(1, 0).nop();
            code.subs(2, 2, 1).bne(top).end();
        }
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(compare_with_bus(rig) == "");
    }
}

TEST_CASE("instructions that access two regions keep the order of both") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        Rig rig(options_for(engine, 3, seed));
        for (unsigned i = 0; i < 3; ++i) {
            Code code = rig.program(i);
            code.mov(0, at::gadget + 0xf8).mov(1, at::neighbour).mov(2, 12);
            const std::uint32_t top = code.here();
            if (i == 0) code.ldm(0, 0x00f0); // two words from each
            if (i == 1) code.ldr(4, 0).str(2, 1).stm(0, 0x00f0);
            if (i == 2) code.str(2, 1, 4).ldrb(4, 0);
            code.subs(2, 2, 1).bne(top).end();
        }
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(compare_with_bus(rig) == "");
    }
}
