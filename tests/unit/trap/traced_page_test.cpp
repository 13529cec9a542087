// Pages of memory that are traced like a device, though no region is there.
#include "catch_2_or_3.hpp"
#include "changing/live_tables.hpp"
#include "engine/service.hpp"
#include "sim/judge.hpp"

#include <algorithm>
#include <map>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t page = 0x8060'0000;
constexpr std::uint32_t counter = page + 0x40;
constexpr std::uint32_t ldrex_r1 = 0xe190'1f9f, strex_r4_r1 = 0xe180'4f91, cmp_r4_0 = 0xe354'0000;

/// Takes the page from the normal view, before tracing begins.
class TracedPage final : public Service {
public:
    TracedPage(Rig& rig, bool recorded) : rig_(rig), recorded_(recorded) { rig.list[0] = this; }

    BootError configure(Machine& machine, Setup&) override {
        machine.memory = MemoryOf::all_cpus;
        return {};
    }
    BootError start(Machine& machine, const Setup&) override {
        LiveTables tables(machine, rig_.services.integrity);
        const bool room = tables.map(normal_views, page, 0) &&
                          machine.give_page(page, *machine.devices, recorded_);
        return room ? BootError{} : BootError{"no room", ""};
    }

private:
    Rig& rig_;
    bool recorded_;
};

RigOptions two_cpus(std::uint64_t seed) {
    RigOptions options =
        options_for(seed % 2 == 0 ? abi::EngineKind::shadow : abi::EngineKind::emulation, 2, seed);
    options.conditions.exceptions_clear_monitor = seed % 3 == 0;
    return options;
}

/// `rounds` of an increment by an exclusive pair, and of accesses to words of its own, in each of
/// the forms that HSR does and does not describe. r6: load-exclusives.
void write_user(Code code, unsigned cpu, unsigned rounds) {
    code.mov(0, counter).mov(5, page + 0x100 * cpu).mov(3, rounds).mov(6, 0).mov(9, at::fifo);
    const std::uint32_t loop = code.here();
    code.word(ldrex_r1).add(6, 6, 1).add(1, 1, 1).word(strex_r4_r1).word(cmp_r4_0).bne(loop);
    code.str(1, 5).ldr(2, 5, 4).add(2, 2, 1).str(2, 5, 4).strb(2, 5, 8).ldm(5, 1 << 7 | 1 << 8);
    code.ldr(10, 9).add(11, 5, 12).str_post(2, 11, 4).subs(3, 3, 1).bne(loop).end();
}

/// Whether the records are of accesses that happened in their order, from memory full of zeros.
std::string judge(std::vector<abi::Record> records) {
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.lock_sequence < b.lock_sequence; });
    std::map<std::uint64_t, std::uint8_t> memory;
    for (std::uint32_t n = 0; n < records.size(); ++n) {
        const abi::Record& r = records[n];
        if (r.lock_sequence != n + 1) return "a gap in lock_sequence";
        for (unsigned byte = 0; byte < abi::access_size(r); ++byte) {
            const auto value = static_cast<std::uint8_t>(r.value >> 8 * byte);
            std::uint8_t& there = memory[abi::physical_address(r) + byte];
            if (abi::is_write(r)) there = value;
            else if (there != value) return "a load of what was not stored last";
        }
    }
    return "";
}

} // namespace

TEST_CASE("each access to a traced page of memory has its record, and exclusives come through",
          "[protocol]") {
    constexpr unsigned rounds = 12;
    for (std::uint64_t seed = 1; seed <= seeds(12); ++seed) {
        CAPTURE(seed);
        Rig rig(two_cpus(seed));
        TracedPage traced(rig, true);
        for (unsigned cpu = 0; cpu < 2; ++cpu) write_user(rig.program(cpu), cpu, rounds);
        rig.simulation.stale_words[counter] =
            0; // the guest's cache has its line, not yet written back
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.text().find("stopped") == std::string::npos);
        CHECK(rig.simulation.ram.load<std::uint32_t>(counter) == 2 * rounds);
        for (unsigned cpu = 0; cpu < 2; ++cpu)
            CHECK(rig.simulation.ram.load<std::uint32_t>(page + 0x100 * cpu + 4) == rounds);
        std::vector<abi::Record> there;
        for (const abi::Record& record : rig.records_of(abi::RecordType::access))
            if (record.device == abi::no_device) there.push_back(record);
        const auto count = [&](bool write, std::uint64_t begin, std::uint64_t end) {
            return std::count_if(there.begin(), there.end(), [&](const abi::Record& r) {
                const std::uint64_t at = abi::physical_address(r);
                return abi::is_write(r) == write && at >= begin && at < end;
            });
        };
        CHECK(count(false, counter, counter + 4) == rig.reg(0, 6) + rig.reg(1, 6));
        CHECK(count(true, counter, counter + 4) == 2 * rounds);
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            const std::uint32_t own = page + 0x100 * cpu;
            CHECK(count(false, own, own + 0x20) == 3 * rounds);
            CHECK(count(true, own, own + 0x20) == 4 * rounds);
        }
        CHECK(judge(there) == "");
        CHECK(rig.records_of(abi::RecordType::fault).empty());
    }
}

TEST_CASE("an owner of a page decides whether its accesses are recorded") {
    Rig rig(two_cpus(1));
    TracedPage traced(rig, false);
    write_user(rig.program(0), 0, 4);
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.simulation.ram.load<std::uint32_t>(counter) == 4);
    for (const abi::Record& record : rig.records_of(abi::RecordType::access))
        CHECK(record.device != abi::no_device);
    CHECK(rig.ring(0).statistics.unselected == 4 * 8);
}
