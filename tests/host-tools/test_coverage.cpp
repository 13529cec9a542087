// Coverage: accessed registers, by the level of their names.
#include "registers/trace_devices.hpp"
#include "sample_event.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("a register counts once, whatever part of it is accessed") {
    registers::Coverage coverage;
    SampleEvent sample;
    coverage.add(sample.event());
    sample.given.offset = 0x1a; // the upper half of it
    coverage.add(sample.event());
    Register bare{"ID", 0x20, 4, "", {}};
    sample.given.reg = &bare;
    sample.given.offset = 0x20;
    coverage.add(sample.event());
    sample.given.reg = nullptr;
    sample.given.offset = 0x24;
    coverage.add(sample.event());
    sample.given.device = "-";
    sample.record.device = abi::no_device;
    coverage.add(sample.event());
    sample.record.type = abi::RecordType::begin;
    sample.given.offset = 0x28;
    coverage.add(sample.event()); // no access
    const registers::CoverageCount total = coverage.total();
    CHECK(total.touched == 4);
    CHECK(total.device == 3);
    CHECK(total.reg == 2);
    CHECK(total.field == 1);
    CHECK(coverage.unnamed().size() == 3);
    CHECK(coverage.devices().at("serial0").touched == 3);
}
