// The baseline: complete while nobody else uses the page, and lossy otherwise. The second half is
// the experiment: if it failed, the comparison with the other engines would show nothing.
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

std::unique_ptr<Rig> hammered(unsigned cpus, std::uint64_t seed) {
    auto rig = std::make_unique<Rig>(options_for(abi::EngineKind::unprotect, cpus, seed));
    for (unsigned i = 0; i < cpus; ++i) write_hammer(rig->program(i), 12);
    rig->run();
    CAPTURE(seed, cpus);
    REQUIRE(rig->failure() == "");
    for (unsigned i = 0; i < cpus; ++i) REQUIRE(rig->simulation.cores[i].ended);
    return rig;
}

bool maps_no_traced_page(const Rig& rig) {
    for (const Range& range : all_device_pages())
        for (std::uint64_t page = range.begin; page < range.end; page += page_size)
            if (walk(rig.simulation.ram, rig.machine->normal(0).root().value, page).valid())
                return false;
    return true;
}

} // namespace

TEST_CASE("the baseline misses nothing on one CPU") {
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed)
        REQUIRE(compare_with_bus(*hammered(1, seed)) == "");
}

TEST_CASE(
    "the baseline carries out other CPUs' accesses to an open page, and does not record them") {
    const unsigned cpus = GENERATE(2u, 4u);
    std::size_t missed = 0;
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        const auto rig = hammered(cpus, seed);
        const std::size_t on_bus =
            rig->bus_log(at::fifo, 0x1000).size() + rig->bus_log(at::gadget, 0x100).size();
        std::size_t recorded = 0;
        for (const abi::Record& r : rig->records_of(abi::RecordType::access))
            recorded += abi::physical_address(r) >= at::fifo;
        REQUIRE(on_bus == 12 * hammer_accesses * cpus);
        REQUIRE(recorded <= on_bus);
        missed += on_bus - recorded;
        // The last one to leave a page closed it, and the shadow tables were not used.
        REQUIRE(maps_no_traced_page(*rig));
        for (const ViewChange& v : rig->simulation.view_changes)
            REQUIRE((v.vttbr & 0xff'ffff'f000) == rig->machine->normal(0).root().value);
    }
    CHECK(missed > 0);
}
