// Runs the checks of the other tests on machines with a built-in fault: each fault must be found. A
// check that cannot fail proves nothing.
#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// Two hammering CPUs. Returns how many of `seeds_tried` runs go wrong.
template <class Break>
unsigned runs_found_wrong(unsigned seeds_tried, Break&& break_machine) {
    unsigned found = 0;
    for (std::uint64_t seed = 1; seed <= seeds_tried; ++seed) {
        RigOptions options = options_for(abi::EngineKind::shadow, 2, seed);
        options.conditions.interrupt_one_in = 20;
        options.conditions.step_limit = 300'000; // a hang counts as found, too
        Rig rig(options);
        for (unsigned i = 0; i < 2; ++i) write_hammer(rig.program(i), 12);
        break_machine(rig);
        rig.run();
        if (!rig.failure().empty() || !compare_with_bus(rig).empty() ||
            rig.text().find(abi::stop_line) != std::string::npos)
            ++found;
    }
    return found;
}

} // namespace

TEST_CASE("the simulation notices nothing in a machine without faults") {
    CHECK(runs_found_wrong(10, [](Rig&) {}) == 0);
}

TEST_CASE("the simulation notices TLB maintenance that does nothing") {
    CHECK(runs_found_wrong(
              5, [](Rig& rig) { rig.simulation.defects.tlb_maintenance_ignored = true; }) == 5);
}

TEST_CASE("the simulation notices a VTTBR write that takes effect only later") {
    CHECK(runs_found_wrong(10, [](Rig& rig) {
              rig.simulation.defects.context_synchronization_ignored = true;
          }) > 0);
}

TEST_CASE("the simulation notices breakpoints that never fire") {
    CHECK(runs_found_wrong(3, [](Rig& rig) {
              rig.simulation.meanwhile = [&rig](Core&) { // after the trial at the start
                  rig.simulation.conditions.no_debug_events = ~0u;
              };
          }) == 3);
}

TEST_CASE("the simulation notices interrupts that ignore their masks") {
    CHECK(runs_found_wrong(
              2, [](Rig& rig) { rig.simulation.defects.interrupt_masks_ignored = true; }) == 2);
}

TEST_CASE("the simulation notices a lock that does not lock") {
    const auto free_locks = [](Rig& rig) {
        rig.simulation.defects.while_waiting = [&rig] {
            for (std::uint16_t i = 0; i < rig.machine->regions.size(); ++i)
                if (auto& lock = rig.machine->locks.of(i).lock; lock.owner() != Lock::no_owner)
                    lock.release();
        };
    };
    CHECK(runs_found_wrong(10, free_locks) > 5);
}

TEST_CASE("the simulation notices a record that is missing, swapped or altered") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    write_hammer(rig.program(0), 5);
    rig.run();
    REQUIRE(compare_with_bus(rig) == "");
    auto& records = rig.mutable_records(0);
    REQUIRE(records.size() > 10);
    const std::size_t last = records.size() - 1;
    SECTION("missing") {
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(last - 3));
    }
    SECTION("missing at the end") {
        records.pop_back();
    }
    SECTION("extra") {
        records.push_back(records.back());
    }
    SECTION("swapped") {
        std::swap(records[last], records[last - 1]);
    }
    SECTION("value") {
        records[last].value ^= 1;
    }
    SECTION("address") {
        records[last].pa_low ^= 4;
    }
    SECTION("size") {
        records[last].access ^= 2;
    }
    SECTION("direction") {
        records[last].access ^= abi::access_write;
    }
    SECTION("CPU") {
        records[last].cpu ^= 1;
    }
    SECTION("time") {
        records[last].time += records[last].duration + 1;
    }
    SECTION("sequence") {
        records[last].lock_sequence += 1;
    }
    CHECK(compare_with_bus(rig) != "");
}

TEST_CASE("the simulation notices a table that maps what it must not") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    rig.run();
    REQUIRE(check_table_history(rig, all_device_pages(), never_mapped()) == "");
    const Range page{at::fifo, at::fifo + page_size};
    SECTION("for a moment, in the normal table") {
        REQUIRE(rig.machine->normal(0).map(page, lpae::guest_device, rig.machine->pool));
        REQUIRE(rig.machine->normal(0).unmap(page, rig.machine->pool));
    }
    SECTION("the UART, in a shadow table") {
        const Range uart{at::own_uart, at::own_uart + page_size};
        REQUIRE(rig.machine->shadow(0).map(uart, lpae::guest_device, rig.machine->pool));
    }
    SECTION("another CPU's root") {
        rig.simulation.view_changes.push_back({0, rig.machine->hyp_table.root().value});
    }
    CHECK(check_table_history(rig, all_device_pages(), never_mapped()) != "");
}

TEST_CASE("the simulation repeats a run exactly from its seed") {
    const auto run = [](std::uint64_t seed) {
        RigOptions options = options_for(abi::EngineKind::shadow, 4, seed);
        options.conditions.interrupt_one_in = 30;
        auto rig = std::make_unique<Rig>(options);
        for (unsigned i = 0; i < 4; ++i) write_hammer(rig->program(i), 5);
        rig->run();
        return rig->simulation.bus.log();
    };
    const auto first = run(7);
    CHECK(first == run(7));
    CHECK(first != run(8));
}
