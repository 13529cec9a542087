// Pages of memory with an owner of their own: a trap there is its owner's to explain.
#include "catch_2_or_3.hpp"
#include "changing/live_tables.hpp"
#include "engine/service.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t page = 0x8060'0000;

/// Keeps a page of the guest's memory from it until it is used for the first time.
class FirstUse final : public Service, public OwnerOps {
public:
    explicit FirstUse(Rig& rig, bool has_page = true) : rig_(rig), has_page_(has_page) {
        rig.list[0] = this;
    }

    BootError configure(Machine& machine, Setup&) override {
        machine.memory = MemoryOf::all_cpus;
        return {};
    }
    BootError start(Machine& machine, const Setup&) override {
        LiveTables tables(machine, rig_.services.integrity);
        const bool room =
            tables.map(normal_views, page, 0) && (!has_page_ || machine.give_page(page, *this));
        return room ? BootError{} : BootError{"no room", ""};
    }
    Outcome access(mmioscope::Cpu& cpu, Frame&, abi::FaultReason) override {
        ++accesses;
        open(*cpu.machine);
        return Outcome::again;
    }
    Outcome fetch(mmioscope::Cpu& cpu, Frame&, VirtualAddress, PhysicalAddress, bool) override {
        ++fetches;
        open(*cpu.machine);
        return Outcome::again;
    }

    unsigned accesses{}, fetches{};

private:
    void open(Machine& machine) {
        lpae::Descriptor& entry = *machine.normal(0).entry(page);
        const auto leaf = lpae::make_leaf(page, lpae::guest_memory, lpae::last_level);
        if (entry != leaf) rig_.services.integrity.store_sealed(entry, leaf);
        port::publish_tables();
    }

    Rig& rig_;
    bool has_page_;
};

RigOptions plain(unsigned cpus, std::uint64_t seed) {
    RigOptions options =
        options_for(GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation), cpus, seed);
    options.conditions.cpus = options.tree.cpus = cpus;
    return options;
}

} // namespace

TEST_CASE("a fault of memory is its owner's to explain") {
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
        CAPTURE(seed);
        Rig rig(plain(2, seed));
        FirstUse owner(rig);
        for (unsigned cpu = 0; cpu < 2; ++cpu)
            rig.program(cpu)
                .mov(0, page + 8 * cpu)
                .mov(1, 77 + cpu)
                .str(1, 0)
                .ldr(2, 0)
                .mov(3, at::fifo)
                .ldr(4, 3)
                .end();
        rig.run();
        REQUIRE(rig.failure() == "");
        CHECK(owner.accesses >= 1);
        CHECK(owner.fetches == 0);
        for (unsigned cpu = 0; cpu < 2; ++cpu) CHECK(rig.reg(cpu, 2) == 77 + cpu);
        CHECK(rig.records_of(abi::RecordType::fault).empty());
        CHECK(rig.bus_log(at::fifo, 0x1000).size() == 2);
        CHECK(compare_with_bus(rig) == "");
    }
}

TEST_CASE("a fetch from a page of memory is its owner's to explain") {
    Rig rig(plain(1, 1));
    FirstUse owner(rig);
    Code(rig.simulation.ram, page).mov(2, 5).end();
    rig.program(0).mov(12, page).bx(12);
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(owner.fetches == 1);
    CHECK(owner.accesses == 0);
    CHECK(rig.reg(0, 2) == 5);
    CHECK(rig.records_of(abi::RecordType::fetch).empty());
}

TEST_CASE("memory that no table has, and that no owner explains, stops the machine") {
    Rig rig(plain(1, 1));
    FirstUse owner(rig, false);
    rig.program(0).mov(0, page).ldr(2, 0).end();
    rig.run();
    CHECK(rig.text().find("a page is missing in the guest's table") != std::string::npos);
}
