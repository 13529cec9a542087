// Which records a filter lets through, and that the others are counted.
#include <catch2/catch.hpp>

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

} // namespace

TEST_CASE("each filter looks at its own field") {
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

TEST_CASE("what a filter holds back is counted, and a record says from when it held") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    Rig rig(options_for(engine, 1, 1));
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(2, 9).str(2, 0).ldr(1, 0);
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
    CHECK((seen == "WR.WWW.WW.R" || seen == "WR.WWW.WW.R"));
    CHECK(rig.ring(0).statistics.filtered == 3 + 2);
}
