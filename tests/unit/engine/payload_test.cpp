// Accesses that a service gives a payload: all of it is behind their records, whatever the policy.
#include "abi/payload.hpp"
#include "catch_2_or_3.hpp"
#include "engine/service.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr unsigned rounds = 60; // 4 accesses each

/// Of the n-th payload of a CPU: size and bytes.
constexpr std::uint32_t size_of(std::uint32_t n) {
    return n % 3 == 0 ? 0 : n * 37 % 400 + 1;
}
constexpr std::uint8_t byte_of(std::uint32_t n, std::uint32_t at) {
    return static_cast<std::uint8_t>(n * 7 + at * 3);
}

class Giver final : public mmioscope::DeviceOps {
public:
    constexpr Giver() : DeviceOps(true) {}

    bool before(mmioscope::Cpu& cpu, Frame&) override {
        if (cpu.trapped.access.recorded) {
            const std::uint32_t n = ++given_[cpu.number];
            for (std::uint32_t i = 0; i < size_of(n); ++i) bytes_[cpu.number][i] = byte_of(n, i);
            cpu.trapped.payload = {bytes_[cpu.number], size_of(n)};
            if (!has_room_for(cpu, 2 * cpu.trapped.payload.records())) return false;
        }
        return true;
    }

private:
    std::uint32_t given_[abi::max_cpus]{};
    std::uint8_t bytes_[abi::max_cpus][400]{};
};

/// What is wrong with the payloads in `records`, in which nothing is missing but whole groups.
std::string judge(const std::vector<abi::Record>& records, unsigned& seen) {
    const abi::Record* before = nullptr;
    std::vector<std::uint8_t> bytes;
    std::uint32_t last = 0;
    for (const abi::Record& record : records) {
        const bool piece = record.type == abi::RecordType::payload;
        if (before != nullptr ? !abi::follows(record, *before) : piece) return "a group is split";
        if (piece)
            bytes.insert(bytes.end(), abi::bytes_of(record),
                         abi::bytes_of(record) + abi::bytes_in(record));
        before = abi::goes_on(record) ? &record : nullptr;
        if (!piece || before != nullptr) continue;
        std::uint32_t n = last + 1; // the next one that has these bytes
        const auto is_nth = [&] {
            bool same = bytes.size() == size_of(n);
            for (std::uint32_t i = 0; same && i < bytes.size(); ++i)
                same = bytes[i] == byte_of(n, i);
            return same;
        };
        while (n < last + 100'000 && !is_nth()) ++n;
        if (!is_nth()) return "a payload that no access was given";
        last = n;
        bytes.clear();
        ++seen;
    }
    return before != nullptr ? "a group has no end" : "";
}

RigOptions with_payload(abi::EngineKind engine, const char* policy, std::uint64_t seed) {
    RigOptions options = options_for(engine, 2, seed);
    options.tree.policy = policy;
    options.tree.area_size = 0x3'2000;
    options.conditions.switch_one_in = 20;
    return options;
}

} // namespace

TEST_CASE("under `stall` an access waits for the room of its record and all of its payload") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        CAPTURE(seed);
        RigOptions options = with_payload(engine, "stall", seed);
        options.read_when = [](Rig& rig) { return rig.simulation.scheduler.random().one_in(200); };
        Giver giver;
        Rig rig(options);
        rig.machine->devices = &giver;
        for (unsigned i = 0; i < 2; ++i) write_hammer(rig.program(i), rounds);
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.ring(0).lost + rig.ring(1).lost == 0);
        unsigned seen = 0;
        for (unsigned i = 0; i < 2; ++i) REQUIRE(judge(rig.records(i), seen) == "");
        CHECK(seen > rounds);
        CHECK(rig.ring(0).head > rig.ring(0).capacity); // it wrapped
    }
}

TEST_CASE("under `drop` a record is lost with all of its payload, and the gap counts all of it") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        CAPTURE(seed);
        RigOptions options = with_payload(engine, "drop", seed);
        std::uint64_t enough = 100;
        options.read_when = [&enough](const Rig& rig) {
            if (rig.ring(0).lost + rig.ring(1).lost < enough) return false;
            enough += 700;
            return true;
        };
        Giver giver;
        Rig rig(options);
        rig.machine->devices = &giver;
        for (unsigned i = 0; i < 2; ++i) write_hammer(rig.program(i), 4 * rounds);
        rig.run();
        REQUIRE(rig.failure() == "");
        unsigned seen = 0;
        for (unsigned i = 0; i < 2; ++i) {
            REQUIRE(judge(rig.records(i), seen) == "");
            std::uint64_t count = 0;
            for (const abi::Record& r : rig.records(i))
                count += r.type == abi::RecordType::gap ? r.value : 1;
            REQUIRE(rig.ring(i).lost > 0);
            REQUIRE(count <= rig.ring(i).next_sequence); // the last gap has no record
            REQUIRE(count >= rig.ring(i).next_sequence - rig.ring(i).lost);
        }
        CHECK(seen > rounds);
    }
}
