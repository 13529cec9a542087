// Unaligned accesses that begin in one page and end in the next, by fast and slow path: the guest's
// state, the devices and memory are as without the hypervisor, and each byte of a traced device has
// its record (trap/split.hpp).
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"
#include "sim/mmu.hpp"

#include <sstream>

using namespace mmioscope;
using namespace mmioscope::sim;
using mmu::full_access;
using mmu::window;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr std::uint32_t frame = 0x8041'0000, other_frame = 0x8042'0000;
constexpr std::uint32_t normal = full_access | mmu::uncached;
constexpr std::uint32_t guests_par = 0x5a5a'0800;

// Neighbours of each kind: memory, traced devices, an untraced one, nothing.
constexpr std::uint32_t pages[] = {frame | normal,
                                   (at::wide + 0x1000) | normal,
                                   at::console | normal,
                                   at::sram | normal,
                                   at::hidden | normal,
                                   other_frame | normal,
                                   0,
                                   (at::wide + 0x2000) | normal,
                                   0};
constexpr std::uint32_t page_of(unsigned n) {
    return window + n * 0x1000;
}
constexpr unsigned lonely = 7;

/// A load or store around the beginning of page `n`, its registers except r0 to r7 unchanged.
void write_access(Code& code, Random& random, unsigned n) {
    const unsigned size = random.one_in(2) ? 4 : 2;
    const auto before = static_cast<std::uint32_t>(random.below(n == lonely ? 1 : size));
    const auto offset = static_cast<unsigned>(random.below(8));
    const auto reg = static_cast<unsigned>(1 + random.below(7));
    code.mov(0, page_of(n) - before - offset);
    switch (random.below(size == 4 ? 4 : 3)) {
    case 0: size == 4 ? code.ldr(reg, 0, offset) : code.ldrh(reg, 0, offset); break;
    case 1: size == 4 ? code.str(reg, 0, offset) : code.strh(reg, 0, offset); break;
    case 2:
        if (size == 2) code.ldrsh(reg, 0, offset);
        else code.add(0, 0, offset).ldr_post(reg, 0, 4); // HSR does not describe it
        break;
    default: code.add(0, 0, offset).str_post(reg, 0, 4); break;
    }
}

void write_program(Code& code, std::uint64_t seed) {
    Random random(seed);
    mmu::turn_on(code);
    for (unsigned n = 1; n < 8; ++n) code.mov(n, static_cast<std::uint32_t>(random.next()));
    for (unsigned i = 0; i < 40; ++i) {
        if (i == 30 && random.one_in(2)) code.cps(0x10);
        constexpr unsigned begins[] = {1, 2, 3, 4, 5, lonely};
        write_access(code, random, begins[random.below(std::size(begins))]);
    }
    code.cpsid_aif().end();
}

/// What the guest can see at the end, and what reached the traced devices.
std::string state_of(const Rig& rig) {
    std::ostringstream out;
    const Core& core = rig.simulation.cores[0];
    out << std::hex;
    for (unsigned n = 0; n < 13; ++n) out << "r" << n << " " << core.frame.r[n] << "\n";
    out << "lr_usr " << core.frame.lr_usr << ", psr " << core.frame.psr << ", par "
        << core.system.get<reg::PAR>() << "\n";
    for (const std::uint32_t at : {frame, other_frame})
        for (std::uint32_t n = 0; n < 0x1000; n += 4)
            if (const auto word = rig.simulation.ram.load<std::uint32_t>(at + n); word != 0)
                out << at + n << ": " << word << "\n";
    for (const BusAccess& a : rig.bus_log(at::console, at::hidden + 0x3000 - at::console))
        if (page_floor(a.address) != at::own_uart)
            out << (a.write ? "W" : "R") << (1 << a.log2_size) << " " << a.address << " " << a.value
                << "\n";
    return out.str();
}

std::unique_ptr<Rig> run(const RigOptions& options, std::uint64_t seed) {
    auto rig = std::make_unique<Rig>(options);
    Simulation& simulation = rig->simulation;
    mmu::write_tables(simulation.ram, pages);
    Random random(~seed);
    for (const std::uint32_t at : {frame, frame + 0xffc, other_frame, other_frame + 0xffc})
        simulation.ram.store(at, static_cast<std::uint32_t>(random.next()));
    simulation.cores[0].frame.lr_usr = 0x1234;
    simulation.cores[0].system.set<reg::PAR>(guests_par);
    Code code = rig->program(0);
    write_program(code, seed);
    rig->run();
    REQUIRE(rig->failure() == "");
    return rig;
}

} // namespace

TEST_CASE("the fast path and the slow one split accesses over two pages as without a hypervisor",
          "[protocol]") {
    const auto engine = GENERATE(values(engines));
    const bool slow_path = GENERATE(false, true);
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(engine, slow_path, seed);
        RigOptions options = options_for(engine, 1, seed);
        RigOptions native = options;
        native.native = true;
        options.tree.slow_path = slow_path;
        const auto traced = run(options, seed);
        REQUIRE(compare_with_bus(*traced, {{at::sram, at::sram + 0x3000}}) == "");
        REQUIRE(state_of(*traced) == state_of(*run(native, seed)));
        REQUIRE(traced->records_of(abi::RecordType::fault).empty());
    }
}

TEST_CASE("without breakpoints an access over two pages is stepped", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(abi::EngineKind::emulation, 1, seed);
        RigOptions native = options;
        native.native = true;
        options.tree.no_breakpoints = true;
        const auto traced = run(options, seed);
        REQUIRE(compare_with_bus(*traced, {{at::sram, at::sram + 0x3000}}) == "");
        if (traced->records_of(abi::RecordType::fault).empty()) // none of User mode
            REQUIRE(state_of(*traced) == state_of(*run(native, seed)));
    }
}

namespace {

/// `accesses` of each size, direction and register at the first byte of a page.
void write_first_bytes(Code& code, unsigned accesses, bool thumb, bool user) {
    const unsigned last = user ? 4 : 14; // the fast path does not handle LR there
    if (thumb) code.to_thumb();
    for (unsigned n = 0; n < accesses; n += 6) {
        if (thumb) {
            code.load_w(2, false, 1, 0, 0).store_w(2, 2, 0, 0).load_w(1, false, 3, 0, 0);
            code.store_w(1, 2, 0, 0).load_w(2, false, last, 0, 0).store_w(2, last, 0, 0);
        } else {
            code.ldr(1, 0).str(2, 0).ldrh(3, 0).strh(2, 0).ldr(last, 0).str(last, 0);
        }
    }
    if (thumb) code.end_thumb();
    else code.end();
}

/// Runs it on page `n`, and returns how many took the slow path. The records must be the accesses.
std::uint64_t slow_of(abi::EngineKind engine, unsigned n, bool thumb, bool user) {
    constexpr unsigned accesses = 120;
    Rig rig(options_for(engine, 1, 1));
    mmu::write_tables(rig.simulation.ram, pages);
    rig.simulation.cores[0].system.set<reg::PAR>(guests_par);
    rig.on_end(0, [&](Core& core, const mmioscope::Cpu&) {
        CHECK(core.system.get<reg::PAR>() == guests_par);
    });
    Code code = rig.program(0);
    mmu::turn_on(code);
    code.mov(0, page_of(n));
    if (user) code.cps(0x10);
    code.mov(2, 0x77).mov(14, 0x1234);
    write_first_bytes(code, accesses, thumb, user);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == accesses);
    return rig.simulation.slow_traps;
}

} // namespace

TEST_CASE("the fast path takes an access at a page's first byte if the page before is not mapped",
          "[protocol]") {
    const auto engine = GENERATE(values(engines));
    const bool thumb = GENERATE(false, true);
    const bool user = GENERATE(false, true);
    if (user && engine == abi::EngineKind::emulation) return; // Hyp's accesses would be privileged
    CAPTURE(engine, thumb, user);
    CHECK(slow_of(engine, lonely, thumb, user) < 30); // one in 16 loses the monitor at the lock
    CHECK(slow_of(engine, 4, thumb, user) >= 120);
}

TEST_CASE("the fast path does not trust a page before whose table is in a page that traps",
          "[protocol]") {
    const auto engine = GENERATE(values(engines));
    constexpr std::uint32_t megabyte = 1u << 20;
    constexpr std::uint32_t second_table = 0x8030'8000;
    Rig rig(options_for(engine, 1, 1));
    Ram& ram = rig.simulation.ram;
    mmu::write_tables(ram, pages);
    ram.store<std::uint32_t>(mmu::first_level + (window >> 20 << 2), at::wide | 1);
    ram.store<std::uint32_t>(mmu::first_level + ((window + megabyte) >> 20 << 2), second_table | 1);
    ram.store<std::uint32_t>(second_table, (at::wide + 0x1000) | normal);
    Code code = rig.program(0);
    mmu::turn_on(code);
    code.mov(0, window + megabyte);
    for (unsigned n = 0; n < 40; ++n) code.str(1, 0);
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == 40);
    CHECK(rig.simulation.slow_traps >= 40);
}

TEST_CASE("an access from a device's page into an unmapped one is the guest's own fault") {
    const auto engine = GENERATE(values(engines));
    const bool store = GENERATE(false, true);
    const std::uint32_t border = page_of(lonely + 1);
    Rig rig(options_for(engine, 1, 1));
    mmu::write_tables(rig.simulation.ram, pages);
    Code code = rig.program(0);
    mmu::turn_on(code);
    code.mov(0, border - 2).mov(1, 0x1122'3344);
    if (store) code.str(1, 0);
    else code.ldr(1, 0);
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    const Core& core = rig.simulation.cores[0];
    CHECK(core.frame.r[9] == 1); // the handler ran
    CHECK(core.system.get<reg::DFAR>() == border);
    CHECK((core.system.get<reg::DFSR>() & 0xf) == 7);
    CHECK(core.frame.r[1] == 0x1122'3344);
}
