// The records that a filter accepts; the others are counted.
#include "catch_2_or_3.hpp"
#include "unit/control/asking.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

abi::Record access(std::uint32_t pa, bool write, std::uint64_t value, std::uint8_t cpu,
                   std::uint32_t pc) {
    abi::Record r{};
    r.type = abi::RecordType::access;
    r.access = abi::encode_access(write, 2);
    r.cpu = cpu;
    r.pc = pc;
    r.value = value;
    r.pa_low = pa;
    return r;
}

/// A guest that requests records of the instructions in eight bytes from `first` on, and makes four
/// accesses. Returns the address of the two in the middle.
std::uint32_t write_four_accesses(Code code, std::uint32_t first) {
    write_request(code, abi::control::make_request(Command::filter_pcs, 1, first, 8));
    code.mov(0, at::wide + 8).mov(2, 9).str(2, 0);
    const std::uint32_t middle = code.here();
    code.ldr(1, 0).str(2, 0, 4).ldr(3, 0, 4).end();
    return middle;
}

} // namespace

TEST_CASE("each filter compares its own field") {
    const abi::Record r = access(0x1000, true, 0xab, 1, 0x8000);
    CHECK(Pattern{}.matches(r));
    CHECK(!Pattern{.directions = 1}.matches(r));
    CHECK(Pattern{.directions = 2}.matches(r));
    CHECK(!Pattern{.cpus = 1}.matches(r));
    CHECK(Pattern{.cpus = 2}.matches(r));
    CHECK(!Pattern{.value_mask = 0xf0, .value = 0xb0}.matches(r));
    CHECK(Pattern{.value_mask = 0xf0, .value = 0xa0}.matches(r));
    CHECK(!Pattern{.pc = 0x8001, .pc_size = 0x1000}.matches(r));
    CHECK(!Pattern{.pc = 0x7000, .pc_size = 0x1000}.matches(r));
    CHECK(Pattern{.pc = 0x8000, .pc_size = 1}.matches(r));
    CHECK(Pattern{.address = 0x1003, .address_size = 1}.matches(r));
    CHECK(!Pattern{.address = 0x1004, .address_size = 4}.matches(r));
    CHECK(!Pattern{.address = 0xffc, .address_size = 4}.matches(r));
    abi::Record unknown = r;
    unknown.flags = abi::flag_value_unknown;
    CHECK(Pattern{.value_mask = 0xf0, .value = 0xb0}.matches(unknown));
}

TEST_CASE("accesses that a filter holds back are counted, and a record says since when",
          "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    Rig rig(options_for(engine, 1, 1));
    Code code = rig.program(0);
    code.mov(0, at::wide + 8).mov(2, 9).str(2, 0).ldr(1, 0);
    write_request(code, abi::control::make_request(Command::filter_directions, 1, 2));
    for (int n = 0; n < 3; ++n) code.str(2, 0).ldr(1, 0);
    write_request(code, abi::control::make_request(Command::sample, 2, 2));
    for (int n = 0; n < 4; ++n) code.str(2, 0);
    write_request(code, abi::control::make_request(Command::no_filter, 3));
    code.ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 9);
    std::string seen;
    for (const abi::Record& r : rig.records(0)) {
        if (r.type == abi::RecordType::configuration) seen += '.';
        if (r.type == abi::RecordType::access) seen += abi::is_write(r) ? 'W' : 'R';
    }
    CHECK(seen == "WR.WWW.WW.R");
    CHECK(rig.ring(0).statistics.filtered == 3 + 2);
}

TEST_CASE("a filter by PC passes what the instructions in its range access") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    RigOptions options = options_for(engine, 1, 1);
    options.tree.pre = GENERATE(false, true);
    Rig rig(options);
    const std::uint32_t middle = write_four_accesses(rig.program(0), 0);
    write_four_accesses(rig.program(0), middle);
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.bus_log(at::wide, 0x3000).size() == 4);
    CHECK((rig.reg(0, 1) == 9 && rig.reg(0, 3) == 9));
    const auto accesses = rig.records_of(abi::RecordType::access);
    REQUIRE(accesses.size() == 2);
    CHECK(accesses[0].pc == middle);
    CHECK(accesses[1].pc == middle + 4);
    CHECK(rig.ring(0).statistics.filtered == 2);
    CHECK(rig.records_of(abi::RecordType::begin).size() == (options.tree.pre ? 2 : 0));
}

TEST_CASE("sampling takes each CPU's first access that passes the filters, then one in N") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    RigOptions options = options_for(engine, 2, 1);
    options.tree.trace = {"0x1c150000+0x3000"};
    options.tree.requests = {static_cast<std::uint32_t>(Command::filter_directions),
                             2,
                             0,
                             static_cast<std::uint32_t>(Command::sample),
                             3,
                             0};
    Rig rig(options);
    for (unsigned cpu = 0; cpu < 2; ++cpu) {
        Code code = rig.program(cpu);
        code.mov(0, at::wide + 0x100 * cpu);
        for (unsigned n = 0; n < 8; ++n) code.mov(2, n).ldr(1, 0).str(2, 0);
        code.end();
    }
    rig.run();
    REQUIRE(rig.failure() == "");
    for (unsigned cpu = 0; cpu < 2; ++cpu) {
        std::vector<std::uint64_t> stored;
        for (const abi::Record& r : rig.records(cpu))
            if (r.type == abi::RecordType::access) stored.push_back(r.value);
        CHECK(stored == std::vector<std::uint64_t>{0, 3, 6});
        CHECK(rig.ring(cpu).statistics.filtered == 16 - 3);
    }
}
