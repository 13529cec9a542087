// The stream's first byte, and what the hypervisor's own end sends.
#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "trap/dispatch.hpp"
#include "unit/stream/streaming.hpp"

#include <optional>

using namespace mmioscope;
using namespace mmioscope::sim;

TEST_CASE("the line's first byte, which ends what was on it before, is sent before any CPU runs",
          "[stream][protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        CAPTURE(seed);
        StreamingRig rig(options_for(abi::EngineKind::shadow, 2, seed));
        std::optional<Bytes> sent;
        rig.simulation.meanwhile = [&](const Core&) { sent = sent.value_or(rig.uart->sent); };
        rig.run();
        REQUIRE(sent == Bytes{0});
    }
}

TEST_CASE("a panic sends what the rings hold, and announces the end", "[stream][protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    unsigned unfinished = 0;
    for (std::uint64_t seed = 1; seed <= std::max(seeds(6), 3u); ++seed) {
        CAPTURE(seed);
        constexpr unsigned cpus = 3;
        RigOptions options = options_for(engine, cpus, seed);
        options.conditions.step_limit = 10'000'000; // waits for a CPU stopped mid-access
        StreamingRig rig(options);
        // CPU 2 traps for an impossible reason, while the others continue.
        for (unsigned i = 0; i < cpus; ++i) write_hammer(rig.program(i), i == 2 ? 30 : 100'000'000);
        rig.on_end(2, [&](Core& core, mmioscope::Cpu& cpu) {
            core.system.set<reg::HSR>(0x3fu << 26);
            mmioscope_guest_trap(cpu, core.frame);
        });
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.text().find(abi::end_of_report) != std::string::npos);
        const Arrived all = arrived(rig.uart->sent);
        REQUIRE(all.ends >= 1);
        REQUIRE(all.order.back() == 'e');
        REQUIRE(all.end.reason == abi::StreamEnd::panicked);
        std::size_t next[cpus]{};
        for (const abi::Record& record : all.records) {
            const abi::Record& same = rig.records(record.cpu).at(next[record.cpu]++);
            REQUIRE(record.cpu_sequence == same.cpu_sequence);
            REQUIRE(record.type == same.type);
            REQUIRE(record.value == same.value);
        }
        REQUIRE(next[2] == rig.records(2).size()); // and everything that the end reports
        for (unsigned i = 0; i < cpus; ++i) REQUIRE(all.end.next_sequence[i] == next[i]);
        for (unsigned i = 0; i < cpus; ++i) {
            const abi::RingHeader& ring = rig.ring(i);
            const bool named =
                std::any_of(all.unfinished.begin(), all.unfinished.end(), [&](const auto& access) {
                    return access.cpu == i && access.pa == ring.in_flight_pa &&
                           access.pc == ring.in_flight_pc && access.time == ring.in_flight_time;
                });
            REQUIRE((named || ring.in_flight != abi::InFlight::in_header));
            unfinished += named ? 1 : 0;
        }
    }
    if (engine == abi::EngineKind::shadow) CHECK(unfinished > 0); // a step halts at its end
}
