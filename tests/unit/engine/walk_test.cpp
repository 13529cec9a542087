// A guest whose page tables lie in a traced device: it finds what it would find without the
// hypervisor, and both the walks and the accesses behind them have records.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t first_level = 0x8030'0000;
constexpr std::uint32_t table = at::wide; ///< a second-level one, in the device
constexpr std::uint32_t frame = 0x8031'0000;
constexpr std::uint32_t window = 0x4000'0000;
constexpr std::uint32_t to_memory = window + 0x10;
constexpr std::uint32_t to_device = window + 0x1020;
constexpr std::uint32_t nowhere = window + 0x2000;

/// TTBR0, DACR and SCTLR; then the device has the table of `window`.
Code& turn_mmu_on(Rig& rig, Code& code) {
    constexpr std::uint32_t section = 0xc02; // full access
    constexpr std::uint32_t page = 3u << 4 | 2;
    Ram& ram = rig.simulation.ram;
    for (const std::uint32_t begin : {0x8000'0000u, 0x1c00'0000u})
        for (std::uint32_t va = begin; va < begin + 0x0200'0000; va += 1 << 20)
            ram.store<std::uint32_t>(first_level + (va >> 20 << 2), va | section);
    ram.store<std::uint32_t>(first_level + (window >> 20 << 2), table | 1);
    code.mov(0, first_level).word(0xee02'0f10).mov(0, 0x5555'5555).word(0xee03'0f10);
    code.mov(0, 0x00c5'0079).word(0xee01'0f10).word(0xf57f'f06f);
    code.mov(0, table).mov(1, frame | page).str(1, 0).mov(1, at::gadget | page).str(1, 0, 4);
    constexpr std::uint32_t dsb = 0xf57f'f04f; // the walks find the stores
    return code.mov(1, 0).str(1, 0, 8).word(dsb);
}

/// The values of the walked words of a run, as the guest sees them.
struct Seen {
    std::vector<std::uint32_t> registers;
    std::vector<BusAccess> device;
};
void check_same(const Seen& traced, const Seen& native) {
    CHECK(traced.registers == native.registers);
    REQUIRE(traced.device.size() == native.device.size());
    for (std::size_t n = 0; n < native.device.size(); ++n) {
        CHECK(traced.device[n].address == native.device[n].address);
        CHECK(traced.device[n].value == native.device[n].value);
        CHECK(traced.device[n].write == native.device[n].write);
    }
}

Seen seen(Rig& rig) {
    Core& core = rig.simulation.cores[0];
    Seen all{{core.system.get<reg::DFSR>(), core.system.get<reg::DFAR>(),
              static_cast<std::uint32_t>(core.system.get<reg::PAR>()), core.frame.pc},
             rig.bus_log(at::gadget, 0x100)};
    for (unsigned n = 0; n < 13; ++n) all.registers.push_back(core.frame.r[n]);
    return all;
}

} // namespace

TEST_CASE("behind a page table in a traced device each access has its record", "[protocol]") {
    RigOptions options = options_for(GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation),
                                     1, GENERATE(1, 2, 3));
    const auto run = [&](bool native) {
        options.native = native;
        auto rig = std::make_unique<Rig>(options);
        Code code = rig->program(0);
        turn_mmu_on(*rig, code);
        code.mov(0, to_memory).mov(1, 0x600d'da7a).str(1, 0).ldr(2, 0);
        code.mov(0, to_device).mov(3, 7).str(3, 0).ldr(3, 0).ldm(0, 0x0030).ldr_post(6, 0, 4);
        code.mov(7, nowhere).ldr(8, 7).end();
        rig->run();
        CHECK(rig->failure() == "");
        return rig;
    };
    const auto traced = run(false);
    check_same(seen(*traced), seen(*run(true)));
    CHECK(compare_with_bus(*traced) == "");
    std::size_t behind = 0;
    for (const abi::Record& r : traced->records_of(abi::RecordType::access))
        behind += abi::physical_address(r) - at::gadget < 0x100;
    CHECK(behind == 5); // str, ldr, ldm of two, ldr
    for (const abi::Record& walk : traced->records_of(abi::RecordType::page_table_walk)) {
        CHECK(abi::physical_address(walk) == table);
        CHECK(!abi::is_write(walk));
    }
    CHECK(traced->records_of(abi::RecordType::page_table_walk).size() >= 5);
}

TEST_CASE("a refusal behind a page table in a traced device leaves it traced", "[protocol]") {
    Rig rig(options_for(GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation), 1,
                        GENERATE(1, 2, 3)));
    Code code = rig.program(0);
    turn_mmu_on(rig, code);
    constexpr std::uint32_t page = 3u << 4 | 2;
    code.mov(0, table).mov(1, at::own_uart | page).str(1, 0, 4).word(0xf57f'f04f);
    code.mov(0, window + 0xffc).ldm(0, 0x0006).mov(0, at::fifo + 8).ldr(2, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.simulation.cores[0].frame.r[9] == 1); // the LDM's data abort
    CHECK(rig.records_of(abi::RecordType::fault).size() == 1);
}

TEST_CASE("an address is translated through a page table in a traced device", "[protocol]") {
    RigOptions options = options_for(GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation),
                                     1, GENERATE(1, 2, 3));
    const std::uint32_t va = GENERATE(to_memory, to_device, nowhere);
    const std::uint32_t operation = GENERATE(0u, 1u, 2u, 3u); // ATS1CPR, CPW, CUR, CUW
    const auto run = [&](bool native) {
        options.native = native;
        auto rig = std::make_unique<Rig>(options);
        Code code = rig->program(0);
        turn_mmu_on(*rig, code);
        code.mov(4, va).word(0xee07'4f18 | operation << 5).word(0xf57f'f06f).end();
        rig->run();
        CHECK(rig->failure() == "");
        return rig;
    };
    const auto traced = run(false);
    check_same(seen(*traced), seen(*run(true)));
    CHECK(traced->simulation.cores[0].system.get<reg::PAR>() != 0);
    CHECK(traced->records_of(abi::RecordType::page_table_walk).size() == 1);
    CHECK(traced->records_of(abi::RecordType::maintenance).empty());
    CHECK(traced->records_of(abi::RecordType::fault).empty());
}
