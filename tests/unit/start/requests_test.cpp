// The requests in /chosen apply before the guest starts, or nothing runs.
#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "unit/control/asking.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

/// One request, as cells.
struct Early {
    Command command;
    std::uint32_t first{}, second{};
};

std::vector<std::uint32_t> cells(const std::vector<Early>& requests) {
    std::vector<std::uint32_t> cells;
    for (const Early& r : requests)
        cells.insert(cells.end(), {static_cast<std::uint32_t>(r.command), r.first, r.second});
    return cells;
}

RigOptions with(const std::vector<Early>& requests, RigOptions options) {
    options.tree.requests = cells(requests);
    return options;
}
RigOptions with(const std::vector<Early>& requests) {
    return with(requests, options_for(abi::EngineKind::shadow, 1, 1));
}

/// The ring of CPU 0: W and R, a point for each change, m for marks, ! where a trigger fired, p
/// where a CPU enters the guest. Without the hypervisor's own accesses.
std::string seen(const Rig& rig) {
    std::string text;
    for (const abi::Record& r : rig.records(0)) {
        const bool fired = r.value == abi::control::fired;
        if (r.type == abi::RecordType::configuration) text += fired ? '!' : '.';
        if (r.type == abi::RecordType::marker) text += 'm';
        if (r.type == abi::RecordType::power) text += 'p';
        if (r.type == abi::RecordType::access) text += abi::is_write(r) ? 'W' : 'R';
    }
    return text;
}

/// Runs a guest that begins with a load from a register, then stores 1 to 4 to it, each followed by
/// a load.
std::string from_the_start(const std::vector<Early>& requests, abi::EngineKind engine) {
    Rig rig(with(requests, options_for(engine, 1, 1)));
    Code code = rig.program(0);
    code.mov(0, at::wide).ldr(1, 0);
    for (unsigned n = 1; n <= 4; ++n) code.mov(2, n).str(2, 0).ldr(1, 0);
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 4);
    return seen(rig);
}

/// The line after the stop mark of a boot with these cells. Nothing must have run, and there must
/// be no trace.
std::string refusal(RigOptions options) {
    Rig rig(options);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(!rig.simulation.cores[0].ended);
    CHECK((rig.machine->area == nullptr || rig.machine->area->magic != abi::area_magic));
    const auto begin = rig.text().find(abi::stop_line);
    REQUIRE(begin != std::string::npos);
    CHECK(rig.text().find(abi::stop_line, begin + 1) == std::string::npos);
    CHECK(rig.text().find(abi::end_of_report) != std::string::npos);
    const auto text = rig.text().substr(begin + std::string(abi::stop_line).size());
    return text.substr(0, text.find('\r'));
}

std::string refusal(Command command, std::uint32_t first, std::uint32_t second) {
    return refusal(with({{Command::marker, 7}, {command, first, second}, {Command::marker, 8}}));
}

} // namespace

TEST_CASE("filters, sampling and triggers take effect from the first access on") {
    const auto engine = GENERATE(values(engines));
    CHECK(from_the_start({}, engine) == "RWRWRWRWR");
    CHECK(from_the_start({{Command::filter_directions, 2}}, engine) == ".WWWW");
    CHECK(from_the_start({{Command::sample, 3}}, engine) == ".RWR");
    CHECK(from_the_start({{Command::trigger_start, 1}}, engine) == ".!RWRWRWRWR");
    CHECK(from_the_start({{Command::trigger_stop, 1}}, engine) == ".R!");
    CHECK(from_the_start({{Command::trigger_directions, 2}, {Command::trigger_start, 1}}, engine) ==
          "..!WRWRWRWR");
    CHECK(from_the_start({{Command::trigger_directions, 2},
                          {Command::trigger_values, ~0u, 3},
                          {Command::trigger_stop, 1}},
                         engine) == "...RWRWRW!");
    CHECK(from_the_start({{Command::stop}}, engine) == ".");
    CHECK(from_the_start({{Command::deselect_range, at::wide, 0x3000}}, engine) == ".");
}

TEST_CASE("requests are carried out in their order, as their records show") {
    const auto engine = GENERATE(values(engines));
    CHECK(from_the_start({{Command::trigger_start, 1}, {Command::no_trigger}}, engine) ==
          "..RWRWRWRWR");
    CHECK(from_the_start({{Command::no_trigger}, {Command::trigger_start, 1}}, engine) ==
          "..!RWRWRWRWR");

    const std::vector<Early> requests = {{Command::marker, 7, 9},
                                         {Command::deselect_range, at::fifo, 0x1000},
                                         {Command::select_range, at::fifo, 0x1000},
                                         {Command::marker_text, 0x6261, 0}};
    Rig rig(with(requests));
    rig.program(0).mov(0, at::fifo).ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(seen(rig) == "m..mR");
    std::size_t id = 0;
    for (const abi::Record& r : rig.records(0)) {
        if (r.type != abi::RecordType::configuration && r.type != abi::RecordType::marker) continue;
        const Early& asked = requests.at(id);
        CHECK(r.value == (asked.first | std::uint64_t{asked.second} << 32));
        CHECK(r.pa_low == (static_cast<std::uint32_t>(asked.command) | id << 16));
        ++id;
    }
    CHECK(id == requests.size());
}

TEST_CASE("a device selected before the guest runs is traced from its first access on",
          "[protocol]") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(4); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(engine, 1 + seed % 2, seed);
        options.tree.trace = {"none"};
        Rig rig(with({{Command::select_range, at::fifo, 0x1000}}, options));
        for (unsigned cpu = 0; cpu < rig.simulation.cores.size(); ++cpu)
            write_hammer(rig.program(cpu), 3);
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.bus_log(at::fifo, 0x1000).size() >= 9 * rig.simulation.cores.size());
        REQUIRE(compare_with_bus(
                    rig, {{at::sysreg, at::own_uart}, {at::gadget, at::gadget + 0x100}}) == "");
        REQUIRE(rig.services.integrity.find_damage(*rig.machine)->name == nullptr);
    }
}

TEST_CASE("a device deselected before the guest runs never traps") {
    const auto run = [](Rig& rig) {
        rig.program(0).mov(0, at::fifo).ldr(1, 0).mov(0, at::wide).ldr(1, 0).end();
        rig.run();
        CHECK(rig.failure() == "");
        return seen(rig);
    };
    std::uint64_t traps_of_both = 0;
    {
        Rig traced(with({}));
        CHECK(run(traced) == "RR");
        traps_of_both = traced.ring(0).statistics.traps;
    }
    Rig rig(with({{Command::deselect_range, at::fifo, 0x1000}}));
    CHECK(run(rig) == ".R");
    CHECK(rig.ring(0).statistics.traps < traps_of_both);
    // A reader of the area learns the guest's initial state.
    const auto region = rig.machine->map.find({at::fifo})->region;
    const auto* entry = reinterpret_cast<const abi::RegionEntry*>(rig.machine->area + 1) + region;
    CHECK((entry->flags & abi::region_traced) == 0);
    CHECK(rig.services.integrity.find_damage(*rig.machine)->name == nullptr);
}

TEST_CASE("a request for one CPU's accesses holds, whichever CPU comes first") {
    Rig rig(with({{Command::filter_cpus, 2}}, options_for(abi::EngineKind::shadow, 2, 3)));
    for (unsigned cpu = 0; cpu < 2; ++cpu) write_hammer(rig.program(cpu), 3);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(seen(rig) == ".");
    CHECK(rig.records(1).size() >= 3 * hammer_accesses);
}

TEST_CASE("the first refused request is reported in one line, and no guest runs") {
    const std::string of = "mmioscope,requests: number 2, command ";
    const unsigned next = static_cast<unsigned>(abi::control::last_command) + 1;
    CHECK(refusal(static_cast<Command>(next), 0, 0) ==
          of + std::to_string(next) + " 0x0 0x0: no such command (status 3)");
    CHECK(refusal(Command::filter_directions, 4, 0) ==
          of + "7 0x4 0x0: an argument is not valid (status 4)");
    CHECK(refusal(Command::select_range, at::unnamed, 0x1000) ==
          of + "5 0x1c180000 0x1000: no device has these addresses (status 5)");
    CHECK(refusal(Command::select_range, at::fifo, 0x10) ==
          of + "5 0x1c130000 0x10: the range ends inside a region that can only change as a whole "
               "(status 6)");
    CHECK(refusal(Command::policy, 2, 0) == of + "14 0x2 0x0: this cannot change (status 7)");
    for (const Command command :
         {Command::describe, Command::statistic, Command::flush, Command::snapshot, Command::hello})
        CHECK(refusal(command, 0, 0) == of + std::to_string(static_cast<unsigned>(command)) +
                                            " 0x0 0x0: this command works only while the guest runs (status 11)");
    RigOptions options = with({});
    options.tree.requests = {0x102, 0, 0}; // only eight bits of the cell are the command
    CHECK(refusal(options) ==
          "mmioscope,requests: number 1, command 258 0x0 0x0: no such command (status 3)");
}

TEST_CASE("the baseline takes no requests, not even early ones") {
    CHECK(
        refusal(with({{Command::sample, 2}}, options_for(abi::EngineKind::unprotect, 1, 1))) ==
        "mmioscope,requests: number 1, command 13 0x2 0x0: the unprotect engine takes no commands "
        "(status 9)");
}

TEST_CASE("too many requests, and torn ones, are refused") {
    RigOptions options;
    for (unsigned n = 0; n < abi::chosen::max_requests; ++n)
        options.tree.requests.insert(options.tree.requests.end(), {15, n, 0});
    Rig rig(options);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(seen(rig) == std::string(abi::chosen::max_requests, 'm'));
    options.tree.requests.insert(options.tree.requests.end(), {15, 0, 0});
    CHECK(refusal(options) == "mmioscope,requests has more than 32 requests");
    options.tree.requests = {15, 0};
    CHECK(refusal(options) == "mmioscope,requests must have three cells for each request");
}

TEST_CASE(
    "where a broadcast TLBI is not enough, devices to trace can be chosen before the guest runs") {
    RigOptions old = with(
        {{Command::deselect_range, at::fifo, 0x1000}, {Command::select_range, at::fifo, 0x1000}});
    old.conditions.mistakes_thumb_stores = true; // r0p4
    Rig rig(old);
    rig.program(0).mov(0, at::fifo).ldr(1, 0).end();
    Status later{};
    rig.on_end(0, [&](Core&, mmioscope::Cpu& cpu) { later = ask(cpu, Command::stop).status; });
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(seen(rig) == "..R");
    CHECK(later == Status::erratum);
}
