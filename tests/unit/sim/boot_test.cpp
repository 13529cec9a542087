#include "catch_2_or_3.hpp"
#include "sim/rig.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

TEST_CASE("the simulated machine boots the hypervisor and a guest") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    rig.program(0).mov(0, at::fifo).ldr(1, 0).end();
    rig.run();
    INFO(rig.text());
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].ended);
    CHECK(rig.records_of(abi::RecordType::access).size() == 1);
    CHECK(rig.bus_log(at::fifo, 0x1000).size() == 1);
    CHECK(rig.reg(0, 1) == 0x8004'8083);
}
