// The hypervisor's own LDREX and STREX use the same monitor as the guest's: loops of the guest on a
// device must end whatever else the hypervisor does.
#include "abi/control_check.hpp"
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"
#include "unit/control/asking.hpp"
#include "unit/stream/streaming.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t ldrex_r1 = 0xe190'1f9f;    // from [r0]
constexpr std::uint32_t strex_r4_r2 = 0xe180'4f92; // to [r0]
constexpr unsigned rounds = 20;

std::vector<std::uint32_t> cells(std::initializer_list<Request> requests) {
    std::vector<std::uint32_t> all;
    for (const Request& r : requests)
        all.insert(all.end(),
                   {static_cast<std::uint32_t>(r.command), r.argument[0], r.argument[1]});
    return all;
}

struct Feature {
    const char* name;
    void (*turn_on)(RigOptions&);
};

const Feature features[] = {
    {"stream", [](RigOptions&) {}},
    {"begin records", [](RigOptions& o) { o.tree.pre = true; }},
    {"stall", [](RigOptions& o) { o.tree.policy = "stall"; }},
    {"names of tasks",
     [](RigOptions& o) {
         o.tree.task_names = {0x100, 0x200};
     }},
    {"a trigger",
     [](RigOptions& o) {
         o.tree.requests =
             cells({make_request(Command::trigger_stop, 0, abi::control::most_counted)});
     }},
    {"a filter",
     [](RigOptions& o) {
         o.tree.requests = cells(
             {make_request(Command::filter_values, 0, 1, 1), make_request(Command::sample, 1, 3)});
     }},
};

/// Adds 1 to a register of a device, `rounds` times, by exclusives.
void write_counter(Code code) {
    code.mov(0, at::wide).mov(5, rounds);
    const std::uint32_t again = code.here();
    code.word(ldrex_r1).add(2, 1, 1).word(strex_r4_r2).subs(6, 4, 0).bne(again);
    code.subs(5, 5, 1).bne(again).end();
}

} // namespace

TEST_CASE("after a row of load-exclusives, Hyp uses its own now and then, at varying intervals") {
    OwnExclusives own;
    CHECK(own.allowed()); // nothing is reserved
    std::uint32_t row = 0;
    std::vector<std::uint32_t> rows;
    std::uint64_t time = 1;
    for (unsigned n = 0; n < 1000; ++n) {
        own.guest_reserved((time += 37 + n % 3)); // like accesses of about that length
        ++row;
        if (own.allowed()) rows.push_back(std::exchange(row, 0));
    }
    REQUIRE(rows.size() > 1000 / OwnExclusives::most);
    for (const std::uint32_t length : rows) {
        CHECK(length >= OwnExclusives::fewest);
        CHECK(length <= OwnExclusives::most);
    }
    CHECK(std::count(rows.begin(), rows.end(), rows[0]) < static_cast<long>(rows.size()));
    own.guest_reserved(0);
    CHECK(!own.allowed());
    CHECK(own.allowed()); // any other trap ends the sequence
}

TEST_CASE("loops of exclusives end, whatever else is on", "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const Feature feature = GENERATE(from_range(std::begin(features), std::end(features)));
    const unsigned cpus = GENERATE(1u, 3u);
    INFO(feature.name << ", " << cpus << " CPUs");
    RigOptions options = options_for(engine, cpus, 5);
    // Like QEMU's: checked before a store's address is translated, and not cleared by traps.
    options.conditions.monitor_asked_first = true;
    options.conditions.step_limit = 3'000'000;
    feature.turn_on(options);
    StreamingRig rig(options);
    for (unsigned cpu = 0; cpu < cpus; ++cpu) write_counter(rig.program(cpu));
    rig.run();
    CHECK(rig.failure() == "");
    const auto stores = rig.stores_to(at::wide, 4);
    REQUIRE(stores.size() == cpus * rounds);
    CHECK(stores.back().value == cpus * rounds);
    // Only those fail that another CPU's store, or a held lock, disturbs.
    if (cpus == 1) CHECK(rig.bus_log(at::wide, 4).size() < 2 * rounds + rounds / 4);
}
