// The control page as the guest sees it.
#include "catch_2_or_3.hpp"
#include "unit/control/asking.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

TEST_CASE("the control page identifies itself, gives tickets, and carries out requests") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    Rig rig(options_for(engine, 1, 1));
    Code code = rig.program(0);
    code.mov(0, control_page).ldr(1, 0).ldr(2, 0, 4).ldr(3, 0, 8).ldr(4, 0, 8).str(4, 0, 0);
    write_request(code, abi::control::make_request(Command::marker, 5, 77), 63);
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == abi::control::page_magic);
    CHECK(rig.reg(0, 2) == abi::control::version);
    CHECK(rig.reg(0, 3) != rig.reg(0, 4));
    CHECK(rig.reg(0, 7) == (abi::control::version | 5u << 16)); // done
    REQUIRE(rig.records_of(abi::RecordType::marker).size() == 1);
    CHECK(rig.records_of(abi::RecordType::marker)[0].value == 77);
    CHECK(rig.records_of(abi::RecordType::fault).empty());
}

TEST_CASE("accesses that are not a whole word have no effect and are reported") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    Code code = rig.program(0);
    code.mov(0, control_page + abi::control::first_slot).mov(1, 5).strb(1, 0, 12).strh(1, 0, 12);
    code.ldrd(2, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.records_of(abi::RecordType::fault).size() == 3);
    CHECK(rig.services.control.request_words(0)[3] == 0);
}

TEST_CASE("with mmioscope,control off there is no control page") {
    RigOptions options = options_for(abi::EngineKind::shadow, 1, 1);
    options.tree.control = "off";
    Rig rig(options);
    Code code = rig.program(0);
    code.mov(0, control_page).mov(1, 5).ldr(1, 0);
    write_request(code, abi::control::make_request(Command::marker, 5, 77));
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 0);
    CHECK(rig.records_of(abi::RecordType::marker).empty());
    CHECK(rig.machine->control_page.empty());
}
