// Accesses to chosen devices that have the registers and the stack of who made them.
#include "abi/stack.hpp"
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

#include <algorithm>
#include <cstring>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr std::uint32_t stack = 0x80b0'0f80;      // the page behind it is read, too
constexpr std::uint32_t own_memory = 0x8200'0000; ///< the hypervisor's, where the guest's ends
constexpr std::uint32_t first_register = 0x5005;

RigOptions with_stacks(abi::EngineKind engine, std::uint64_t seed) {
    RigOptions options = options_for(engine, 2, seed);
    options.tree.stacks = {"/bus@8000000/motherboard/iofpga@3,00000000/fifo@130000"};
    options.tree.slow_path = seed % 2 == 0;
    return options;
}

constexpr std::uint32_t word_at(std::uint32_t address) {
    return address * 0x9e37'79b1;
}

/// The hammer, with a stack and r5 to r11.
void write_caller(Rig& rig, unsigned cpu, std::uint32_t sp, unsigned rounds) {
    for (std::uint32_t at = sp; at < std::min(sp + abi::most_stack, own_memory - 3); at += 4)
        rig.simulation.ram.store(at, word_at(at));
    Code code = rig.program(cpu);
    code.mov(13, sp);
    for (unsigned n = 5; n < 12; ++n) code.mov(n, first_register + n + cpu);
    write_hammer(code, rounds);
}

/// What is wrong with the stacks in a CPU's `records`, in which nothing is missing but whole
/// groups; `size` bytes each. Counts them in `seen`.
std::string judge(const Rig& rig, unsigned cpu, std::uint32_t sp, std::uint32_t size,
                  unsigned& seen) {
    const auto records = rig.records(cpu);
    for (std::size_t i = 0; i < records.size(); ++i) {
        const abi::Record& owner = records[i];
        if (owner.type == abi::RecordType::payload) return "a piece without its owner";
        if (owner.type != abi::RecordType::access) continue;
        const bool chosen = rig.machine->regions[owner.device].base == at::fifo;
        if (abi::goes_on(owner) != chosen) return "a stack of another device, or none";
        if (!chosen) continue;
        std::vector<std::uint8_t> bytes;
        for (; abi::goes_on(records[i]); ++i) {
            if (i + 1 == records.size() || !abi::follows(records[i + 1], records[i]))
                return "a group is split";
            const auto* const piece = abi::bytes_of(records[i + 1]);
            bytes.insert(bytes.end(), piece, piece + abi::bytes_in(records[i + 1]));
        }
        abi::StackHead head;
        if (bytes.size() != sizeof head + size)
            return "another size: " + std::to_string(bytes.size());
        std::memcpy(&head, bytes.data(), sizeof head);
        if (head.kind != abi::PayloadKind::stack || head.registers[0] != hammer_gadget)
            return "another kind, or r4";
        for (unsigned n = 5; n < 12; ++n)
            if (head.registers[n - 4] != first_register + n + cpu) return "another register";
        for (std::uint32_t at = 0; at < size; at += 4) {
            std::uint32_t word;
            std::memcpy(&word, bytes.data() + sizeof head + at, sizeof word);
            if (word != word_at(sp + at)) return "another word at " + std::to_string(at);
        }
        ++seen;
    }
    return "";
}

std::string refusal(const RigOptions& options) {
    Rig rig(options);
    rig.run();
    CHECK(!rig.simulation.cores[0].ended);
    const auto begin = rig.text().find(abi::stop_line);
    REQUIRE(begin != std::string::npos);
    const auto text = rig.text().substr(begin + std::string(abi::stop_line).size());
    return text.substr(0, text.find('\r'));
}

} // namespace

TEST_CASE("an access to a chosen device has the stack of who made it, and no other has one") {
    const auto engine = GENERATE(values(engines));
    const std::uint32_t size = GENERATE(0u, 4u, 200u, abi::most_stack);
    for (std::uint64_t seed = 1; seed <= seeds(2); ++seed) {
        CAPTURE(seed, size);
        RigOptions options = with_stacks(engine, seed);
        options.tree.stack_size = size;
        Rig rig(options);
        for (unsigned i = 0; i < 2; ++i) write_caller(rig, i, stack + 0x2000 * i, 20);
        rig.run();
        REQUIRE(rig.failure() == "");
        unsigned seen = 0;
        for (unsigned i = 0; i < 2; ++i)
            REQUIRE(judge(rig, i, stack + 0x2000 * i, size == 0 ? abi::default_stack : size,
                          seen) == "");
        CHECK(seen == 2 * 20 * 3);
        CHECK(compare_with_bus(rig) == "");
        CHECK(rig.records_of(abi::RecordType::fault).empty());
    }
}

TEST_CASE("a stack ends where the guest's memory ends, and one that is not aligned has no words") {
    const auto engine = GENERATE(values(engines));
    const std::uint32_t before_end = GENERATE(0u, 16u, 18u);
    const std::uint32_t sp = own_memory - before_end;
    Rig rig(with_stacks(engine, 1));
    write_caller(rig, 0, sp, 5);
    rig.run();
    REQUIRE(rig.failure() == "");
    unsigned seen = 0;
    CHECK(judge(rig, 0, sp, sp % 4 == 0 ? before_end : 0, seen) == "");
    CHECK(seen == 5 * 3);
}

TEST_CASE("under `stall` an access waits for the room of its stack, under `drop` both are lost") {
    const auto engine = GENERATE(values(engines));
    const std::string policy = GENERATE("stall", "drop");
    for (std::uint64_t seed = 1; seed <= seeds(2); ++seed) {
        CAPTURE(seed, policy);
        RigOptions options = with_stacks(engine, seed);
        options.tree.policy = policy;
        options.tree.area_size = 0x3'2000;
        options.conditions.switch_one_in = 20;
        std::uint64_t enough = 100;
        options.read_when = [&](Rig& rig) {
            if (policy == "stall") return rig.simulation.scheduler.random().one_in(5000);
            if (rig.ring(0).lost + rig.ring(1).lost < enough) return false;
            enough += 700;
            return true;
        };
        Rig rig(options);
        for (unsigned i = 0; i < 2; ++i) write_caller(rig, i, stack + 0x2000 * i, 60);
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE((rig.ring(0).lost + rig.ring(1).lost == 0) == (policy == "stall"));
        unsigned seen = 0;
        for (unsigned i = 0; i < 2; ++i)
            REQUIRE(judge(rig, i, stack + 0x2000 * i, abi::default_stack, seen) == "");
        CHECK(seen > 40);
        CHECK(rig.ring(0).head > rig.ring(0).capacity); // it wrapped
    }
}

TEST_CASE("stacks of what is no device, of no size, or with the baseline are refused") {
    RigOptions options = with_stacks(abi::EngineKind::shadow, 1);
    options.tree.stacks = {"nothing"};
    CHECK(refusal(options) == "unknown device in mmioscope,stacks: nothing");
    options = with_stacks(abi::EngineKind::unprotect, 1);
    CHECK(refusal(options) == "mmioscope,stacks needs the engine shadow or emulation");
    options = with_stacks(abi::EngineKind::shadow, 1);
    options.tree.stack_size = GENERATE(3u, abi::most_stack + 4);
    CHECK(refusal(options) == "mmioscope,stack-size must be a multiple of 4, up to 2048");
}
