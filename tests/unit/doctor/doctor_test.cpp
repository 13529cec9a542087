// The self-test on a board that QEMU cannot be: without DBGEN.
#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "doctor/doctor.hpp"
#include "sim/rig.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

/// The trial's code is not linked: this board does not get that far.
extern "C" void doctor_trial() {}

namespace {

/// What the doctor says, up to its verdict.
std::string report(const RigOptions& options) {
    doctor::Doctor examiner;
    Rig rig(options);
    rig.list.fill(&examiner);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(!rig.simulation.cores[0].ended);
    CHECK(rig.text().ends_with(std::string(abi::end_of_report) + "\r\n"));
    return rig.text();
}

bool says(const std::string& text, const std::string& line) {
    return text.find(line) != std::string::npos;
}

} // namespace

TEST_CASE("where DBGEN is low, the doctor says what the board must do, and that it cannot trace") {
    RigOptions options;
    options.conditions.dbgen_low = true;
    const std::string text = report(options);
    CHECK(says(text, "doctor: debug unit: FAILED: MDBGen cannot be set"));
    CHECK(says(text, "the board must drive DBGEN high"));
    CHECK(says(text, "mmioscope: stop: doctor: this board cannot trace: debug unit\r\n"));
}
