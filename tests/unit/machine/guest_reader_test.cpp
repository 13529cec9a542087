// A guest that may read the trace area, and therefore can write it, too.
#include "arch/lpae.hpp"
#include "catch_2_or_3.hpp"
#include "machine/area_layout.hpp"
#include "sim/hammer.hpp"
#include "sim/stage2.hpp"
#include "unit/control/asking.hpp"

#include <cstring>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t area = 0x8200'0000 + (16u << 20);
constexpr std::uint64_t ram_begin = 0x8000'0000;

RigOptions readable(abi::EngineKind engine, unsigned cpus, std::uint64_t seed) {
    RigOptions options = options_for(engine, cpus, seed);
    options.tree.guest_reader = true;
    return options;
}

/// Bits 5:2 of the leaf: MemAttr of stage 2 (ARM ARM B3.6.2).
std::uint64_t memory_attributes(const Translation& leaf) {
    return leaf.descriptor >> 2 & 0xf;
}

/// Writes words all over the area, mostly on headers, positions and readers' words.
void scribble(Rig& rig) {
    Random& random = rig.simulation.scheduler.random();
    const Range where = rig.machine->image.area;
    const auto put = [&](std::uint64_t offset) {
        const std::uint64_t value = random.one_in(2) ? random.next() : random.below(3000);
        std::memcpy(rig.simulation.ram.at({where.begin + offset}), &value, sizeof value);
    };
    const unsigned cpu = random.below(rig.machine->cpu_count);
    const AreaLayout layout(where.size(), rig.machine->cpu_count);
    put(0); // the magic: a search of the area at the end finds none
    put(8 * random.below(sizeof(abi::AreaHeader) / 8));
    put(layout.ring_offset(cpu) + 8 * random.below(48)); // up to the readers' words
    put(layout.ring_offset(cpu) + offsetof(abi::RingHeader, readers) + 8 * random.below(16));
    put(8 * random.below(static_cast<unsigned>(where.size() / 8)));
}

/// Forges a word of the area's header, of a snapshot's, or of a ring's, from which an address, a
/// size or a count follows: often to lead to the hypervisor's own memory.
void forge(Rig& rig) {
    Random& random = rig.simulation.scheduler.random();
    Machine& machine = *rig.machine;
    const Range where = machine.image.area;
    const AreaLayout layout(where.size(), machine.cpu_count);
    const std::uint64_t targets[] = {machine.image.text.begin, machine.normal(0).root().value,
                                     machine.image.stacks.begin, at::fifo, where.end};
    const auto lie = [&]() -> std::uint64_t {
        const std::uint64_t target = targets[random.below(5)];
        switch (random.below(5)) {
        case 0: return random.next();
        case 1: return ~std::uint64_t{0} - random.below(2000);
        case 2: return random.below(300);
        case 3: return target - where.begin + layout.kept_size; // where an area of that size ends
        default: return static_cast<std::uint32_t>(target - where.begin);
        }
    };
    const auto put = [&](std::uint64_t offset) {
        const std::uint64_t value = lie();
        std::memcpy(rig.simulation.ram.at({where.begin + offset}), &value,
                    random.one_in(2) ? sizeof value : 4);
    };
    const unsigned cpu = random.below(machine.cpu_count);
    const AreaLayout small(layout.kept_size, machine.cpu_count);
    for (const std::uint64_t area : {std::uint64_t{0}, layout.kept_offset}) {
        put(area + 4 * random.below(sizeof(abi::AreaHeader) / 4 - 1));
        put(area + offsetof(abi::AreaHeader, area_size));
        put(area + offsetof(abi::AreaHeader, cpu_count));
        put(area + offsetof(abi::AreaHeader, region_count));
        put(area + offsetof(abi::AreaHeader, ring_offset) + 4 * cpu);
    }
    put(layout.ring_offset(cpu) + 4 * random.below(0x180 / 4 - 1));
    put(layout.kept_offset + small.ring_offset(cpu) + 4 * random.below(0x180 / 4 - 1));
}

/// A request, sound or not, but none that changes what is recorded.
Request some_request(Random& random) {
    constexpr Command commands[] = {Command::snapshot, Command::snapshot,    Command::describe,
                                    Command::flush,    Command::marker_text, Command::statistic};
    Request request = abi::control::make_request(
        commands[random.below(6)], static_cast<std::uint16_t>(random.next()),
        random.one_in(2) ? 0 : static_cast<std::uint32_t>(random.next()),
        random.one_in(2) ? 0 : random.below(3));
    if (random.one_in(8)) request.check ^= 1u << random.below(32);
    return request;
}

/// RAM except `left_out`, and the hypervisor's own state.
std::vector<std::byte> memory_without(Rig& rig, Range left_out) {
    constexpr std::size_t size = 64 << 20;
    const std::byte* ram = rig.simulation.ram.at({ram_begin});
    std::vector<std::byte> copy(ram, ram + size);
    const auto state = rig.simulation.ram.address_of(rig.machine.get());
    for (const Range& range : {left_out, Range{state.value, state.value + sizeof(Machine)}})
        std::memset(copy.data() + (range.begin - ram_begin), 0, range.size());
    return copy;
}

} // namespace

TEST_CASE("the area is Normal Non-cacheable in every table, and nothing else becomes visible") {
    Rig rig(readable(abi::EngineKind::shadow, 2, 1));
    for (unsigned i = 0; i < 2; ++i) rig.program(i).end();
    rig.run();
    REQUIRE(rig.failure() == "");
    Machine& machine = *rig.machine;
    const Range where = machine.image.area;
    for (const TranslationTable* table :
         {&machine.normal(0), &machine.shadow(0), &machine.shadow(1)})
        for (std::uint64_t page = 0x8200'0000; page < 0x8400'0000; page += page_size) {
            const Translation leaf = walk(rig.simulation.ram, table->root().value, page);
            const bool guests = page >= where.end; // RAM
            REQUIRE(leaf.valid() == (where.contains(page) || guests));
            if (!where.contains(page)) continue;
            REQUIRE(memory_attributes(leaf) == 0x5);
            REQUIRE(leaf.readable());
            REQUIRE(leaf.writable());
            REQUIRE(!leaf.executable());
        }
    const std::uint64_t in_hyp = machine.hyp_table.lookup(where.begin);
    CHECK((in_hyp >> 2 & 7) == 2);
    CHECK((rig.simulation.cores[1].system.get<reg::HMAIR0>() >> 16 & 0xff) == 0x44);
}

TEST_CASE(
    "the guest reads and writes the area without a trap if allowed, and not at all otherwise") {
    for (const bool may : {true, false}) {
        RigOptions options = readable(abi::EngineKind::shadow, 1, 2);
        options.tree.guest_reader = may;
        Rig rig(options);
        rig.program(0).mov(0, area).ldr(1, 0).mov(2, 77).str(2, 0, 0x800).ldr(3, 0, 0x800).end();
        rig.run();
        REQUIRE(rig.failure() == "");
        CHECK(rig.reg(0, 1) == (may ? static_cast<std::uint32_t>(abi::area_magic) : 0));
        CHECK(rig.reg(0, 3) == (may ? 77 : 0));
        CHECK(rig.ring(0).statistics.traps == (may ? 0 : 3));
        CHECK(rig.records_of(abi::RecordType::fault).size() == (may ? 0 : 3));
    }
}

TEST_CASE("the ring waits for the guest's reader from the first record on") {
    RigOptions options = readable(abi::EngineKind::shadow, 1, 3);
    options.tree.area_size = 0x2'1000;
    Rig rig(options);
    write_hammer(rig.program(0), 350);
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.ring(0).head == rig.ring(0).capacity);
    CHECK(rig.ring(0).lost > 0);
}

TEST_CASE("whatever the guest writes into the area, accesses go on and no other memory changes") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const auto policy = GENERATE("drop", "flight");
    for (std::uint64_t seed = 1; seed <= seeds(2); ++seed) {
        CAPTURE(seed, policy);
        constexpr unsigned rounds = 300;
        RigOptions options = readable(engine, 2, seed);
        options.tree.policy = policy;
        options.tree.area_size = 0x3'2000;
        std::vector<std::byte> before;
        options.read_when = [&before](Rig& rig) {
            if (before.empty()) before = memory_without(rig, rig.machine->image.area);
            scribble(rig);
            return false;
        };
        Rig rig(options);
        for (unsigned i = 0; i < 2; ++i) write_hammer(rig.program(i), rounds);
        rig.run();
        INFO(rig.text());
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.text().find("stop") == std::string::npos);
        REQUIRE(rig.bus_log(at::fifo, 0x1000).size() == 2 * 3 * rounds);
        REQUIRE(rig.bus_log(at::gadget, 0x100).size() == 2 * 1 * rounds);
        REQUIRE(!before.empty());
        REQUIRE((memory_without(rig, rig.machine->image.area) == before));
    }
}

TEST_CASE("whatever the guest writes into the area, requests touch no other memory and no device") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    for (std::uint64_t seed = 1; seed <= seeds(2); ++seed) {
        CAPTURE(seed);
        constexpr unsigned rounds = 100;
        RigOptions options = readable(engine, 2, seed);
        options.tree.area_size = static_cast<std::uint32_t>(2 * smallest_area(2));
        std::vector<std::byte> before;
        options.read_when = [&before](Rig& rig) {
            if (before.empty()) before = memory_without(rig, rig.machine->image.area);
            forge(rig);
            return false;
        };
        Rig rig(options);
        Random random(seed);
        write_hammer(rig.program(0), rounds);
        Code code = rig.program(1);
        for (unsigned n = 0; n < 30; ++n) write_request(code, some_request(random));
        code.end();
        rig.run();
        INFO(rig.text());
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.text().find("stop") == std::string::npos);
        REQUIRE(rig.bus_log(at::fifo, 0x1000).size() == 3 * rounds);
        REQUIRE(rig.bus_log(at::gadget, 0x100).size() == rounds);
        REQUIRE(!before.empty());
        REQUIRE((memory_without(rig, rig.machine->image.area) == before));
    }
}

TEST_CASE("a snapshot goes where the hypervisor laid it out, whatever the header says") {
    RigOptions options = readable(abi::EngineKind::shadow, 1, 5);
    options.tree.area_size = static_cast<std::uint32_t>(2 * smallest_area(1));
    as_guest(options, [](Rig& rig, mmioscope::Cpu& cpu) {
        Machine& machine = *rig.machine;
        const abi::AreaHeader honest = *machine.area;
        for (std::uint32_t n = 0; n < 20; ++n) ask(cpu, Command::marker, n);
        abi::AreaHeader& forged = *machine.area;
        forged.area_size = (16 << 20) + smallest_area(1);
        forged.cpu_count = 200;
        forged.region_count = ~0u;
        forged.ring_offset[0] = forged.kept_offset = 0x10'0000;
        CHECK(ask(cpu, Command::snapshot).status == Status::done);
        const auto& kept = *reinterpret_cast<const abi::AreaHeader*>(
            reinterpret_cast<const std::byte*>(machine.area) + honest.kept_offset);
        CHECK(kept.magic == abi::area_magic);
        CHECK(kept.cpu_count == 1);
        CHECK(kept.region_count == machine.regions.size());
        CHECK(kept.ring_offset[0] == abi::area_head_size);
        const auto* records =
            reinterpret_cast<const abi::Record*>(reinterpret_cast<const std::byte*>(&kept) +
                                                 abi::area_head_size + sizeof(abi::RingHeader));
        CHECK(records[cpu.ring.published() - 1].value == 19);
        forged = honest; // for the reader at the end
    });
}
