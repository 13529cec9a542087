// A descriptor that is taken away while the guest runs: what forget_on_all_cpus() alone has to
// give.
#include "catch_2_or_3.hpp"
#include "changing/live_tables.hpp"
#include "port/memory.hpp"
#include "sim/simulation.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr unsigned cpus = 3;
constexpr std::uint32_t page = 0x1c13'0000;
constexpr std::uint64_t tables = 0x8200'0000;

/// Removes `page` from the table that all CPUs use. Empty if no CPU finds it afterwards.
std::string take_away(std::uint64_t seed) {
    Conditions conditions;
    conditions.cpus = cpus;
    conditions.seed = seed;
    Simulation simulation(conditions);
    simulation.speculated = {page};
    TablePool pool(reinterpret_cast<lpae::Descriptor*>(simulation.ram.at({tables})), 8);
    TranslationTable table(pool.take());
    if (!table.map({page, page + page_size}, lpae::guest_device, pool)) return "no tables";
    for (Core& core : simulation.cores) {
        core.system.set<reg::HCR>(1);
        core.system.set<reg::VTTBR>(table.root().value);
    }
    bool gone = false;
    std::string wrong;
    simulation.scheduler.add([&] {
        for (unsigned n = 0; n < 20; ++n) simulation.point();
        port::store_descriptor(table.entry(page), 0);
        forget_on_all_cpus();
        gone = true;
    });
    for (unsigned cpu = 1; cpu < cpus; ++cpu) // the guest's actions, and its TLB meanwhile
        simulation.scheduler.add([&] {
            for (unsigned n = 0; n < 60; ++n) simulation.point();
        });
    simulation.scheduler.add([&] {
        for (unsigned n = 0; n < 400; ++n, simulation.scheduler.point())
            for (Core& core : simulation.cores)
                if (gone && core.tlb.translate(core.regime(), page, n).stop == Route::Stop::none)
                    wrong = "broadcast: a CPU still uses a page that is gone";
    });
    simulation.scheduler.run();
    return simulation.scheduler.failure() + wrong;
}

} // namespace

TEST_CASE("a descriptor taken away is gone for all CPUs", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(100); ++seed) {
        CAPTURE(seed);
        REQUIRE(take_away(seed) == "");
    }
}
