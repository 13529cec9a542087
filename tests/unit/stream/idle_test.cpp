// When the stream is served: at each trap, and more while the guest waits for interrupts, which
// traps for this purpose.
#include "catch_2_or_3.hpp"
#include "unit/control/asking.hpp"
#include "unit/stream/streaming.hpp"

#include <libfdt.h>

#include <algorithm>
#include <random>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

// Bytes, as in docs/design.md.
constexpr std::size_t at_trap = 64;
constexpr std::size_t at_wfi = 128 + at_trap; // a WFI is a trap, too

constexpr unsigned traps_for_a_look = 16; ///< for requests: more accesses than this are two turns

/// The stream begins with the description. Letters by chance make it so long, although it is coded,
/// that `times` WFIs do not send all of it.
RigOptions with_much_to_send(RigOptions options, unsigned times) {
    options.tree.stream = "serial0";
    const std::size_t letters = 2 * times * at_wfi; // each has about 5 bits
    options.blob = with_room(make_board_tree(options.tree), letters + 4096);
    std::mt19937 random(1);
    std::string text;
    while (text.size() < letters) text += static_cast<char>('a' + random() % 26);
    const int aliases = fdt_path_offset(options.blob.data(), "/aliases");
    REQUIRE(fdt_setprop_string(options.blob.data(), aliases, "long", text.c_str()) == 0);
    return options;
}

/// The wire has exactly what the ring of CPU 0 has.
void require_all_arrived(const StreamingRig& rig, const Arrived& all) {
    const auto& records = rig.records(0);
    REQUIRE(all.records.size() == records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        REQUIRE(all.records[i].type == records[i].type);
        REQUIRE(all.records[i].cpu_sequence == records[i].cpu_sequence);
        REQUIRE(all.records[i].value == records[i].value);
        REQUIRE(all.records[i].pc == records[i].pc);
    }
}

} // namespace

TEST_CASE("a WFI sends more than other traps, up to its bound, and the guest continues after it") {
    const bool thumb = GENERATE(false, true);
    constexpr unsigned times = 3;
    const RigOptions options = options_for(abi::EngineKind::shadow, 1, GENERATE(range(1, 6)));
    StreamingRig rig(with_much_to_send(options, times));
    Code code = rig.program(0);
    code.mov(3, 0).mov(0, at::fifo).ldr(1, 0);
    if (thumb) code.to_thumb();
    const std::uint32_t first = code.here();
    const std::uint32_t size = thumb ? 4 : 8; // of a WFI and what follows it
    for (unsigned n = 0; n < times; ++n) {
        if (thumb) code.half(0xbf30).half(0x3301); // WFI; ADDS r3, #1
        else code.wfi().add(3, 3, 1);
    }
    thumb ? code.end_thumb() : code.end();
    std::vector<std::size_t> at_wfis;
    rig.watch([&](std::size_t bytes, std::uint32_t pc) {
        const bool behind = pc > first && pc <= code.here() && (pc - first) % size == size / 2;
        if (behind) at_wfis.push_back(bytes);
        else CHECK(bytes <= at_trap);
    });
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.simulation.cores[0].ended);
    CHECK(rig.reg(0, 3) == times);
    REQUIRE(at_wfis.size() == times);
    for (const std::size_t bytes : at_wfis) {
        CHECK(bytes >= at_wfi - at_trap); // the rest is sent only if the lock is free
        CHECK(bytes <= at_wfi);
    }
}

TEST_CASE("a guest that never waits is listened to at its traps") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    StreamingRig rig(options_for(engine, 1, GENERATE(range(1, 6))));
    rig.uart->receive(abi::control::make_request(Command::marker, 7, 1, 2));
    Code code = rig.program(0);
    code.mov(0, at::fifo);
    for (unsigned n = 0; n < traps_for_a_look + 1; ++n) code.ldr(1, 0);
    code.end();
    rig.run();
    REQUIRE(rig.failure() == "");
    const auto& records = rig.records(0);
    REQUIRE(records.size() >= traps_for_a_look + 2);
    const auto begin = records.end() - (traps_for_a_look + 2);
    const auto marker = std::find_if(begin, records.end(), [](const abi::Record& record) {
        return record.type == abi::RecordType::marker;
    });
    REQUIRE(marker != records.end());
    CHECK(marker->value == 0x2'0000'0001);
    CHECK(std::count_if(begin, records.end(), [](const abi::Record& record) {
              return record.type == abi::RecordType::access;
          }) == traps_for_a_look + 1);
    CHECK(records.back().type == abi::RecordType::access);
    CHECK(rig.uart->sent.size() > 1); // the first byte is the boot's
}

TEST_CASE("a CPU sleeps in a WFI only when everything is sent and no request waits") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    unsigned asked_in = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        StreamingRig rig(options_for(engine, 1, seed));
        Code code = rig.program(0);
        code.mov(0, at::fifo + 8).mov(2, 40);
        const std::uint32_t top = code.here();
        code.ldr(1, 0).str(2, 0, 4).subs(2, 2, 1).bne(top);
        const std::uint32_t idle = code.here();
        code.wfi().b(idle);
        bool asked = false;
        rig.watch([&](std::size_t bytes, std::uint32_t pc) {
            REQUIRE(bytes <= at_wfi);
            const abi::RingHeader& ring = rig.ring(0);
            const bool taken = ring.readers[abi::drain_reader].tail == ring.head;
            if (asked || pc != idle + 4 || !taken || bytes >= at_wfi - at_trap) return;
            asked = true; // nothing is left to do: the next WFI would sleep
            rig.uart->receive(make_request(Command::flush, 7));
        });
        rig.run(); // until the CPU sleeps: nothing wakes it
        REQUIRE(rig.failure() == "");
        if (!asked) continue; // the last bytes were sent in the WFI that sleeps
        ++asked_in;
        REQUIRE(!rig.simulation.cores[0].ended);
        REQUIRE(rig.uart->received.empty());
        const Arrived all = arrived(rig.uart->sent);
        REQUIRE(all.replies.size() == 1);
        REQUIRE(all.replies[0].id == 7);
        REQUIRE(all.replies[0].status == Status::done);
        require_all_arrived(rig, all);
    }
    CHECK(asked_in > 30);
}
