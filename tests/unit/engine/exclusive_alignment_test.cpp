// An unaligned LDREX or STREX is the guest's own alignment fault, as natively, also where Hyp has
// followed the guest to the store, and would carry that out (trap/stretch.hpp).
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

#include <sstream>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t load_words[] = {0xe1d0'6f9f, 0xe1f0'6f9f, 0xe190'6f9f, 0xe1b0'6f9f};
constexpr std::uint32_t store_words[] = {0xe1c0'4f92, 0xe1e0'4f92, 0xe180'4f92, 0xe1a0'4f92};
constexpr std::uint32_t thumb_loads[] = {0xe8d0'6f4f, 0xe8d0'6f5f, 0xe850'6f00, 0xe8d0'677f};
constexpr std::uint32_t thumb_stores[] = {0xe8c0'2f44, 0xe8c0'2f54, 0xe840'2400, 0xe8c0'2374};

/// With r0 for an address, r6 and r7 loaded, r2 and r3 stored, r4 for the result.
struct Pair {
    unsigned load; ///< log2 of its bytes
    unsigned store;
    std::uint32_t offset;
    bool thumb;
};

/// What the guest sees of it. The aborts before the store are counted in ARM state only.
std::string run(const RigOptions& options, const Pair& pair, bool user) {
    Rig rig(options);
    Code code = rig.program(0);
    code.mov(0, at::wide + pair.offset).mov(2, 0x1234'89ab).mov(4, 77);
    if (user) code.cps(0x10);
    if (pair.thumb)
        code.to_thumb().wide(thumb_loads[pair.load]).wide(thumb_stores[pair.store]).end_thumb();
    else
        code.word(load_words[pair.load]).add(8, 9, 0).word(store_words[pair.store]).end();
    rig.run();
    Core& core = rig.simulation.cores[0];
    std::ostringstream out;
    out << rig.failure() << (options.native ? "" : compare_with_bus(rig));
    out << "aborts " << rig.reg(0, 8) << ", then " << rig.reg(0, 9) << ", r4 " << rig.reg(0, 4);
    out << std::hex << ", DFSR " << core.system.get<reg::DFSR>();
    out << ", DFAR " << core.system.get<reg::DFAR>();
    out << ", LR " << core.bank(port::Banked::lr_abt);
    out << ", SPSR " << core.bank(port::Banked::spsr_abt);
    out << ", accesses " << rig.bus_log(at::wide, 16).size();
    return out.str();
}

} // namespace

TEST_CASE(
    "an unaligned exclusive is an alignment fault, as natively, wherever Hyp has come to it") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const bool user = GENERATE(false, true);
    const bool asked_first = GENERATE(false, true);
    const bool cleared = GENERATE(false, true);
    const bool thumb = GENERATE(false, true);
    CAPTURE(engine, user, asked_first, cleared, thumb);
    RigOptions options = options_for(engine, 1, 5);
    options.conditions.monitor_asked_first = asked_first;
    options.conditions.exceptions_clear_monitor = cleared;
    RigOptions native = options;
    native.native = true;
    for (unsigned load = 0; load < 4; ++load)
        for (unsigned store = 1; store < 4; ++store)
            for (const std::uint32_t offset : {1u, 2u, 4u}) {
                if (offset % (1u << store) == 0) continue;
                const Pair pair{load, store, offset, thumb};
                CAPTURE(load, store, offset);
                const bool faults = offset % (1u << load) != 0;
                const std::string natively = run(native, pair, user);
                CHECK(run(options, pair, user) == natively);
                if (faults) continue;
                CHECK(natively.find("then 1, r4 77, DFSR 801") != std::string::npos);
            }
}

TEST_CASE("an unaligned exclusive's status is in the format of the guest's tables") {
    RigOptions options = options_for(abi::EngineKind::shadow, 1, 5);
    options.conditions.monitor_asked_first = options.conditions.exceptions_clear_monitor = true;
    Rig rig(options);
    Code code = rig.program(0);
    code.mov(1, 1u << 31).word(0xee02'1f50).mov(0, at::wide + 1).mov(4, 77); // TTBCR.EAE
    code.word(load_words[0]).word(store_words[1]).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 4) == 77);
    CHECK(rig.simulation.cores[0].system.get<reg::DFSR>() == 0xa21);
}
