// The selection changes while CPUs use devices: there are records for what happens while it is on,
// and for nothing else.
#include "catch_2_or_3.hpp"
#include "unit/control/asking.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

/// CPU 0 switches the fifo on and off, and uses it and its neighbour; the others use them all the
/// time.
void write_programs(Rig& rig, unsigned cpus, unsigned changes) {
    for (unsigned cpu = 1; cpu < cpus; ++cpu) {
        Code code = rig.program(cpu);
        code.mov(0, at::fifo + 8).mov(4, at::gadget + 8).mov(2, 60 * changes);
        const std::uint32_t top = code.here();
        code.str(2, 0, 4).ldr(1, 0).ldrd(8, 4).str(2, 4, 0x100).subs(2, 2, 1).bne(top).end();
    }
    Code code = rig.program(0);
    code.mov(0, at::fifo + 8).mov(4, at::gadget + 8).mov(2, 1);
    for (unsigned n = 0; n < changes; ++n) {
        const std::uint32_t where = n / 2 % 2 == 0 ? at::fifo : at::gadget;
        const std::uint32_t size = where == at::fifo ? 0x1000 : 0x100;
        const Command command = n % 2 == 0 ? Command::select_range : Command::deselect_range;
        write_request(
            code, abi::control::make_request(command, static_cast<std::uint16_t>(n), where, size));
        code.str(2, 0, 4).ldr(1, 0).str(2, 4, 0x100).ldr_post(1, 4, 0);
    }
    code.end();
}

struct Change {
    std::uint64_t time;
    bool on;
};

/// The changes of the selection at `where`, in order.
std::vector<Change> changes_of(const Rig& rig, std::uint32_t where) {
    std::vector<Change> found;
    for (const abi::Record& r : rig.records(0))
        if (r.type == abi::RecordType::configuration &&
            static_cast<std::uint32_t>(r.value) == where)
            found.push_back({r.time, abi::control::tag_command(r.pa_low) == Command::select_range});
    return found;
}

bool on_at(const std::vector<Change>& changes, std::uint64_t time) {
    bool on = false;
    for (const Change& change : changes)
        if (change.time <= time) on = change.on;
    return on;
}

/// Compares `cpu`'s accesses to [where, where + size) on the bus while it was traced with its
/// records.
std::string compare(const Rig& rig, unsigned cpu, std::uint32_t where, std::uint32_t size) {
    const auto changes = changes_of(rig, where);
    auto record = rig.records(cpu).begin();
    const auto end = rig.records(cpu).end();
    const auto next = [&] {
        for (; record != end; ++record)
            if (record->type == abi::RecordType::access &&
                abi::physical_address(*record) - where < size)
                return true;
        return false;
    };
    for (const BusAccess& access : rig.bus_log(where, size)) {
        if (access.cpu != cpu || !on_at(changes, access.time)) continue;
        if (!next()) return "no record of an access at " + std::to_string(access.time);
        if (record->value != access.value || abi::is_write(*record) != access.write)
            return "another record than that of the access at " + std::to_string(access.time);
        ++record;
    }
    return next() ? "a record too many, at " + std::to_string(record->time) : "";
}

} // namespace

TEST_CASE("a device switched on and off is traced exactly while it is on", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    constexpr unsigned changes = 16;
    for (std::uint64_t seed = 1; seed <= seeds(8); ++seed) {
        const unsigned cpus = seed % 3 == 0 ? 3 : 2;
        CAPTURE(seed, cpus);
        RigOptions options = options_for(engine, cpus, seed);
        options.tree.trace = {"none"};
        options.conditions.steps_per_tick = 1;
        Rig rig(options);
        const ForMemory views(rig, seed % 2 == 0 ? MemoryOf::each_cpu : MemoryOf::the_start);
        write_programs(rig, cpus, changes);
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.text().find(abi::stop_line) == std::string::npos);
        REQUIRE(rig.records_of(abi::RecordType::configuration).size() == changes);
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            REQUIRE(compare(rig, cpu, at::fifo, 0x1000) == "");
            REQUIRE(compare(rig, cpu, at::gadget, 0x100) == "");
        }
        REQUIRE(rig.services.integrity.find_damage(*rig.machine)->name == nullptr);
    }
}

TEST_CASE("a change leaves no reservation that untraced stores have invalidated") {
    as_guest(options_for(abi::EngineKind::shadow, 1, 1), [](Rig& rig, mmioscope::Cpu& cpu) {
        auto& stores = rig.machine->locks.of(rig.machine->map.find({at::fifo})->region).stores[0];
        const std::uint32_t before = stores;
        CHECK(ask(cpu, Command::deselect_range, at::fifo, 0x1000).status == Status::done);
        rig.simulation.complete_system();
        CHECK(stores != before);
    });
}
