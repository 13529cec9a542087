// A guest that halts: its CPUs stop, and nobody comes back to Hyp.
#include "catch_2_or_3.hpp"
#include "unit/stream/streaming.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t sgir = 0xf00;
constexpr std::uint32_t cpu_stop = 0x0002'0004; ///< to CPU 1, the interrupt by which Linux stops it
constexpr std::uint32_t another = 0x0002'0003;

/// CPU 0 sends an interrupt to CPU 1, and does `then`; CPU 1 makes accesses meanwhile, and stops.
Arrived sent_after(StreamingRig& rig, std::uint32_t interrupt,
                   const std::function<void(Code&)>& then, std::uint32_t frequency = 1'000'000) {
    Code code = rig.program(0);
    code.mov(0, at::fifo).mov(2, at::gic).mov(3, interrupt);
    for (unsigned n = 0; n < 20; ++n) code.ldr(1, 0);
    code.str(3, 2, sgir);
    then(code);
    code.end();
    Code other = rig.program(1);
    other.mov(0, at::fifo);
    for (unsigned n = 0; n < 30; ++n) other.ldr(1, 0);
    other.end();
    for (Core& core : rig.simulation.cores) // the silence before the end: fewer steps
        core.system.set<reg::CNTFRQ>(frequency);
    rig.run();
    REQUIRE(rig.failure() == "");
    Bytes whole = rig.uart->sent; // without a frame that is still on its way
    while (!whole.empty() && whole.back() != 0) whole.pop_back();
    return arrived(whole);
}

RigOptions options(std::uint64_t seed) {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    RigOptions options = options_for(engine, 2, seed);
    options.conditions.step_limit = 10'000'000;
    if (seed % 2 == 0) options.tree.trace = {"0x1c130000+0x1000"}; // not the GIC
    return options;
}

} // namespace

TEST_CASE("a guest that stops its other CPUs has sent everything, and an end", "[stream]") {
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        CAPTURE(seed);
        StreamingRig rig(options(seed));
        const Arrived all = sent_after(rig, cpu_stop, [](Code&) {});
        REQUIRE(all.ends == 1);
        CHECK(all.order.back() == 'e');
        CHECK(all.end.reason == abi::StreamEnd::halted);
        CHECK(all.records.size() == rig.records(0).size() + rig.records(1).size());
        for (unsigned cpu = 0; cpu < 2; ++cpu)
            CHECK(all.end.next_sequence[cpu] == rig.records(cpu).back().cpu_sequence + 1);
    }
}

TEST_CASE("what a guest does after it has stopped its other CPUs follows, with another end",
          "[stream]") {
    // A turn comes at every sixth access, and one turn may only finish the frame before. A turn
    // whose STREX fails is left out: then there is no bound.
    constexpr std::size_t most_behind = 12;
    const unsigned fail_one_in = GENERATE(0u, 16u);
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        CAPTURE(seed);
        RigOptions with_failures = options(seed);
        with_failures.conditions.exclusives_fail_one_in = fail_one_in;
        StreamingRig rig(with_failures);
        const Arrived all = sent_after(rig, cpu_stop, [](Code& code) {
            for (unsigned n = 0; n < 60; ++n) code.ldr(1, 0);
        });
        CHECK(all.ends >= 2);
        const std::size_t made = rig.records(0).size() + rig.records(1).size();
        if (fail_one_in == 0) CHECK(all.records.size() + most_behind >= made);
    }
}

TEST_CASE("an end is not written over records that a CPU has no time to send", "[stream]") {
    // The clock goes on by 100 ms between any two steps, as if the machine's host had paused it.
    constexpr std::uint32_t one_tick = 10;
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        CAPTURE(seed);
        StreamingRig rig(options(seed));
        const Arrived all = sent_after(
            rig, cpu_stop,
            [](Code& code) {
                for (unsigned n = 0; n < 18; ++n) code.ldr(1, 0);
            },
            one_tick);
        std::uint32_t next[2]{}; // what was sent is in order, and without a gap
        for (const abi::Record& record : all.records)
            CHECK(record.cpu_sequence == next[record.cpu]++);
    }
}

TEST_CASE("another interrupt between CPUs is no end", "[stream]") {
    StreamingRig rig(options(1));
    CHECK(sent_after(rig, another, [](Code&) {}).ends == 0);
}
