// `pre` mode: what memory says about an access while it is on the bus.
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"
#include "unit/control/asking.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::make_request;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation,
                          abi::EngineKind::unprotect};

RigOptions pre(abi::EngineKind engine, unsigned cpus, std::uint64_t seed) {
    RigOptions options = options_for(engine, cpus, seed);
    options.tree.pre = true;
    options.conditions.late_one_in = 6;
    return options;
}

/// The newest record of `cpu` that is visible in memory.
const abi::Record& newest(const Rig& rig, unsigned cpu) {
    const abi::RingHeader& ring = rig.ring(cpu);
    return reinterpret_cast<const abi::Record*>(&ring + 1)[(ring.head - 1) % ring.capacity];
}

bool is_device(std::uint64_t address) {
    return Range{at::fifo, at::fifo + 0x1000}.contains(address) ||
           Range{at::gadget, at::gadget + 0x200}.contains(address);
}

/// Whether it names `access`, without any result.
bool announces(const abi::Record& r, const BusAccess& access) {
    return r.type == abi::RecordType::begin && abi::physical_address(r) == access.address &&
           abi::is_write(r) == access.write && abi::access_size(r) == 1u << access.log2_size &&
           ((r.flags & abi::flag_value_unknown) != 0 || r.value == access.value) && r.time != 0 &&
           r.pc != 0;
}

/// Each record of an access has its begin record right before it, or that of its instruction.
void require_pairs(const Rig& rig, unsigned cpu) {
    const auto& records = rig.records(cpu);
    std::size_t begin = records.size();
    for (std::size_t i = 0; i < records.size(); ++i) {
        const abi::Record& r = records[i];
        if (r.type == abi::RecordType::begin) {
            begin = i;
            REQUIRE(i + 1 < records.size());
            REQUIRE(abi::ends(r, records[i + 1]));
            REQUIRE(r.lock_sequence == records[i + 1].lock_sequence);
            REQUIRE(r.task == records[i + 1].task);
        }
        if (r.type != abi::RecordType::access) continue;
        REQUIRE(begin < i);
        REQUIRE(records[begin].time == r.time);
        REQUIRE((begin + 1 == i || (r.flags & abi::flag_same_instruction) != 0));
    }
}

} // namespace

TEST_CASE("each access has its begin record in memory when it reaches the bus", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    const unsigned cpus = engine == abi::EngineKind::unprotect ? 1u : 3u;
    for (std::uint64_t seed = 1; seed <= seeds(8); ++seed) {
        CAPTURE(seed);
        Rig rig(pre(engine, cpus, seed));
        std::uint64_t seen = 0;
        bool announced = true;
        rig.simulation.bus.on_arrival = [&](const BusAccess& access) {
            if (!is_device(access.address)) return;
            ++seen;
            announced &= announces(newest(rig, access.cpu), access);
        };
        for (unsigned i = 0; i < cpus; ++i) write_hammer(rig.program(i), 10);
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(announced);
        REQUIRE(seen == 10 * hammer_accesses * cpus);
        REQUIRE(compare_with_bus(rig) == "");
        for (unsigned i = 0; i < cpus; ++i) require_pairs(rig, i);
    }
}

TEST_CASE("an instruction with several accesses, or one that aborts, has one begin record") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
        CAPTURE(seed);
        Rig rig(pre(engine, 2, seed));
        for (unsigned i = 0; i < 2; ++i)
            rig.program(i)
                .mov(0, at::gadget + 0xf8)
                .mov(1, at::broken)
                .ldm(0, 0x00f0)
                .ldr(2, 1)
                .stm(0, 0x00f0)
                .end();
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(compare_with_bus(rig) == "");
        for (unsigned i = 0; i < 2; ++i) require_pairs(rig, i);
        const std::size_t start_of_cpu_1 = 1;
        CHECK(rig.records_of(abi::RecordType::begin).size() == 2 * 3 + start_of_cpu_1);
        CHECK(rig.records_of(abi::RecordType::fault).size() == 2);
    }
}

TEST_CASE("an access that never returns is named by its begin record") {
    const auto engine = GENERATE(values(engines));
    const bool write = GENERATE(false, true);
    const bool user = GENERATE(false, true); // in SVC mode the task is found by its stack there
    constexpr std::uint32_t task = 0xc123'4560;
    Rig rig(pre(engine, 2, 7));
    rig.simulation.bus.on_arrival = [&](const BusAccess& access) {
        if (access.address == at::gadget + 0x40) rig.simulation.scheduler.stop();
    };
    Code code = rig.program(1);
    code.mov(0, at::gadget).mov(1, 0x55).mov(2, task).mov(13, 0).set_task(13);
    (user ? code.mov(13, task).cps(0x10) : code.set_task(2)).ldr(2, 0);
    const std::uint32_t pc = code.here();
    (write ? code.str(1, 0, 0x40) : code.ldr(2, 0, 0x40)).ldr(2, 0).end();
    rig.run();
    const abi::Record& last = newest(rig, 1);
    CHECK(last.type == abi::RecordType::begin);
    CHECK(last.cpu == 1);
    CHECK(last.pc == pc);
    CHECK(abi::physical_address(last) == at::gadget + 0x40);
    REQUIRE(last.device < rig.machine->regions.size());
    CHECK(std::string(rig.machine->regions[last.device].path).ends_with("/gadget@140000"));
    CHECK(last.task == task);
    CHECK(abi::is_write(last) == write);
    if (write) CHECK(last.value == 0x55);
    CHECK(rig.ring(1).in_flight == abi::InFlight::in_header);
}

TEST_CASE("no begin record is written without `pre`, nor for an untraced access") {
    RigOptions options = options_for(abi::EngineKind::shadow, 1, 3);
    options.tree.pre = GENERATE(false, true);
    options.tree.trace = {"0x1c140000+0x100"};
    Rig rig(options);
    rig.program(0).mov(0, at::gadget).mov(1, at::neighbour).ldr(2, 0).ldr(2, 1).end();
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == 1);
    CHECK(rig.records_of(abi::RecordType::begin).size() == (options.tree.pre ? 1 : 0));
}

TEST_CASE("an access under `stall` begins only when there is room for both records") {
    RigOptions options = pre(abi::EngineKind::shadow, 2, 5);
    options.tree.policy = "stall";
    options.tree.area_size = 0x3'2000;
    options.conditions.switch_one_in = 20;
    options.read_when = [](Rig& rig) { return rig.simulation.scheduler.random().one_in(50); };
    Rig rig(options);
    for (unsigned i = 0; i < 2; ++i) write_hammer(rig.program(i), 200);
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.ring(0).lost + rig.ring(1).lost == 0);
    CHECK(rig.ring(0).head > rig.ring(0).capacity);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("an access that filters hold back has no begin record, whatever they compare") {
    struct Case {
        Request request;
        std::size_t begins, accesses;
    };
    // What the program does: a store of 0x55, a load, four loads of one instruction, a store of 7.
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const auto [request, begins, accesses] = GENERATE(values<Case>({
        {make_request(Command::no_filter, 1), 4, 7},
        {make_request(Command::filter_directions, 1, 2), 2, 2},
        {make_request(Command::filter_directions, 1, 1), 1, 5},
        {make_request(Command::filter_addresses, 1, at::gadget, 8), 2, 4},
        {make_request(Command::filter_addresses, 1, at::gadget + 4, 4), 0, 1},
        {make_request(Command::filter_values, 1, ~0u, 7), 1, 1},
        {make_request(Command::filter_cpus, 1, 2), 0, 0},
        {make_request(Command::sample, 1, 2), 0, 4},
        {make_request(Command::trigger_start, 1, 2), 2, 6},
        {make_request(Command::trigger_stop, 1, 2), 0, 2},
    }));
    CAPTURE(accesses);
    Rig rig(pre(engine, 1, 3));
    Code code = rig.program(0);
    write_request(code, request);
    code.mov(0, at::gadget).mov(1, 0x55).mov(2, 7).str(1, 0).ldr(3, 0);
    code.ldm(0, 0x00f0).str(2, 0, 0x20).end();
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == accesses);
    CHECK(rig.records_of(abi::RecordType::begin).size() == begins);
    const auto& records = rig.records(0);
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i].type == abi::RecordType::begin)
            CHECK((i + 1 < records.size() && abi::ends(records[i], records[i + 1])));
}
