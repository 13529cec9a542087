// The self-test on a board that QEMU cannot be: without DBGEN.
#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "doctor/doctor.hpp"
#include "sim/rig.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

/// The trial's code is not linked: this board, which has no CNTFRQ, does not get that far.
extern "C" void doctor_trial() {}

namespace {

/// What the doctor says, up to its verdict.
std::string report(const RigOptions& options) {
    doctor::Doctor examiner;
    Rig rig(options);
    rig.list.fill(&examiner);
    rig.simulation.cores[0].system.set<reg::CNTFRQ>(0);
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

TEST_CASE("where no debug event comes, the doctor says so") {
    RigOptions options;
    options.conditions.no_debug_events = ~0u;
    CHECK(says(report(options), "doctor: debug unit: note: MDBGen can be set, but no debug event "
                                "comes: no engine but emulation"));
}

TEST_CASE("where DBGEN is low, the doctor says what that means, and what the board must do") {
    RigOptions options;
    const bool low = GENERATE(true, false);
    options.conditions.dbgen_low = low ? ~0u : 0;
    const std::string text = report(options);
    CHECK(says(text, "doctor: debug unit: note: MDBGen cannot be set, or HDBGen is: no engine but "
                     "emulation") == low);
    CHECK(says(text, "the board must drive DBGEN high") == low);
    CHECK(says(text, "mmioscope: stop: doctor: this board cannot trace: counter\r\n"));
}
