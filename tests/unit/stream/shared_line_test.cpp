// Console and stream on one UART: whatever the guest sends, both arrive whole
// (abi/shared_wire.hpp).
#include "stream/shared_line.hpp"

#include "catch_2_or_3.hpp"
#include "unit/stream/streaming.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

struct Separated {
    Bytes console;
    Bytes stream;
};

Separated separated(const Bytes& wire) {
    Separated both;
    abi::shared_wire::Splitter splitter;
    abi::shared_wire::Unpacker unpacker;
    for (const std::uint8_t byte : wire) {
        std::uint8_t out = 0;
        switch (splitter.take(byte)) {
        case abi::shared_wire::Owner::console: both.console.push_back(byte); break;
        case abi::shared_wire::Owner::stream:
            if (unpacker.add(byte, out)) both.stream.push_back(out);
            break;
        case abi::shared_wire::Owner::neither: break;
        }
    }
    return both;
}

/// Takes a byte now and then.
struct SlowLine : Line {
    Random random{1};
    unsigned takes_one_in{1}; ///< 0: none
    Bytes taken;

    bool put(std::uint8_t byte) override {
        if (takes_one_in == 0 || random.below(takes_one_in) != 0) return false;
        taken.push_back(byte);
        return true;
    }
};

} // namespace

TEST_CASE("all that a guest sends arrives, between the frames that its CPUs send meanwhile",
          "[stream]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const bool traced = GENERATE(true, false);
    for (std::uint64_t seed = 1; seed <= seeds(2); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(engine, 2, seed);
        options.tree.stream_shared = true;
        options.conditions.step_limit = 10'000'000;
        if (!traced) options.tree.trace = {"0x1c130000+0x1000"}; // not the console
        StreamingRig rig(options);
        Bytes said;
        Code code = rig.program(0);
        code.mov(0, at::console).mov(2, at::fifo + 8);
        for (unsigned value = 0; value < 256; ++value) {
            const auto byte = static_cast<std::uint8_t>(value * 37);
            said.push_back(byte);
            code.mov(1, byte | 0x4321'0000);
            if (value % 2 == 0) code.str(1, 0);
            else code.word(0xe5c0'1000); // STRB r1, [r0]
            code.ldr(3, 2);
        }
        code.end();
        Code other = rig.program(1);
        other.mov(0, at::fifo + 8).mov(2, 3000);
        const std::uint32_t top = other.here();
        other.ldr(1, 0).subs(2, 2, 1).bne(top).end();
        rig.run();
        REQUIRE(rig.failure() == "");
        Separated both = separated(rig.uart->sent);
        CHECK(both.console == said);
        while (!both.stream.empty() && both.stream.back() != 0) both.stream.pop_back();
        const Arrived all = arrived(both.stream); // without damage
        CHECK(all.hellos >= 1);
        std::uint32_t next[2]{};
        for (const abi::Record& record : all.records)
            REQUIRE(record.cpu_sequence == next[record.cpu]++);
        CHECK(next[0] + next[1] > 0);
        CHECK(rig.machine->regions[rig.machine->map.find({at::console})->region].flags &
              abi::region_shared);
    }
}

TEST_CASE("a store that was not made leaves no mark behind, and nothing overtakes one that is",
          "[stream]") {
    Conditions conditions;
    conditions.cpus = 1;
    Simulation simulation(conditions);
    SlowLine line;
    SharedLine shared(line, 1'000'000);
    Bytes sent;
    Bytes said;
    simulation.scheduler.add([&] {
        Random random{5};
        for (unsigned n = 0; n < 2000; ++n) {
            line.takes_one_in = 1 + random.below(3);
            const auto byte = static_cast<std::uint8_t>(random.below(256));
            if (random.below(3) != 0) {
                while (!shared.put(byte)) {
                }
                sent.push_back(byte);
                continue;
            }
            shared.begin_store(0, byte);
            CHECK(!shared.put(1)); // as another CPU's stream would
            const bool made = random.below(4) != 0;
            if (made) {
                line.taken.push_back(byte);
                said.push_back(byte);
            }
            shared.end_store(0, made);
            shared.end_store(0, false); // nothing is under way any more
        }
        line.takes_one_in = 1;
        while (!shared.put(0)) {
        }
        sent.push_back(0);
        line.takes_one_in = 0; // the line stands still: the guest waits 100 ms, and goes on
        const std::uint64_t begun = simulation.now();
        shared.begin_store(0, 0x80);
        CHECK(simulation.now() - begun < 200'000);
        line.takes_one_in = 1;
        CHECK(shared.put(1));
    });
    simulation.scheduler.run();
    REQUIRE(simulation.scheduler.failure() == "");
    Separated both = separated(line.taken);
    CHECK(both.console == said);
    const auto frames_in = [](const Bytes& bytes) { // zeros behind each other are one
        std::vector<Bytes> frames;
        Bytes frame;
        for (const std::uint8_t byte : bytes) {
            if (byte != 0) frame.push_back(byte);
            else if (!frame.empty()) frames.push_back(std::exchange(frame, {}));
        }
        return frames;
    };
    CHECK(frames_in(both.stream) == frames_in(sent));
    CHECK(said.size() > 300);
}
