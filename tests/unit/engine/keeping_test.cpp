// A guest that switches off the clock of the hypervisor's UART, or resets it. The simulated board
// gets the clock controller of an Allwinner H3.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

#include <libfdt.h>

#include <utility>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr std::uint32_t gates = 0x6c;
constexpr std::uint32_t resets = 0x2d8;
constexpr std::uint32_t own = 1u << 17; ///< UART 1 is the hypervisor's
constexpr std::uint32_t other = 1u << 16;
const std::string iofpga = "/bus@8000000/motherboard/iofpga@3,00000000/";

RigOptions tracing(abi::EngineKind engine, const std::string& what) {
    RigOptions options = options_for(engine, 1, 1);
    options.tree.trace = {what};
    return options;
}

RigOptions with_controller(RigOptions options, const char* compatible = "allwinner,sun8i-h3-ccu") {
    options.blob = with_room(make_board_tree(options.tree));
    void* tree = options.blob.data();
    const auto node = [tree](const char* name) {
        return fdt_path_offset(tree, (iofpga + name).c_str());
    };
    const auto names = [&](const char* property, std::uint32_t id) {
        const fdt32_t value[] = {cpu_to_fdt32(7), cpu_to_fdt32(id)};
        REQUIRE(fdt_setprop(tree, node("uart@a0000"), property, value, sizeof value) == 0);
    };
    REQUIRE(fdt_setprop_string(tree, node("wide@150000"), "compatible", compatible) == 0);
    REQUIRE(fdt_setprop_u32(tree, node("wide@150000"), "phandle", 7) == 0);
    names("clocks", 63);
    names("resets", 50);
    return options;
}

/// The words that the guest's stores to `offset` of the controller put on the bus.
std::vector<std::uint64_t> stored(const Rig& rig, std::uint32_t offset) {
    std::vector<std::uint64_t> values;
    for (const BusAccess& access : rig.stores_to(at::wide + offset, 4))
        values.push_back(access.value);
    return values;
}

void check_told(const Rig& rig, abi::FaultReason what, std::uint32_t offset, std::size_t times) {
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == times);
    for (const abi::Record& fault : faults) {
        CHECK(abi::fault_reason(fault.value) == what);
        CHECK(rig.machine->regions[abi::fault_region(fault.value)].base == at::own_uart);
        CHECK(abi::physical_address(fault) == at::wide + offset);
        CHECK(rig.machine->regions[fault.device].base == at::wide);
        CHECK(abi::is_write(fault));
    }
}

} // namespace

TEST_CASE("a store that would stop the hypervisor's UART is told of, and its bit stays set") {
    const std::uint32_t offset = GENERATE(gates, resets);
    const std::string traced = GENERATE("all", "none");
    Rig rig(with_controller(tracing(GENERATE(values(engines)), traced)));
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(1, own | other | 5).mov(2, own).mov(3, 0).mov(4, 8);
    code.str(1, 0, offset).str(2, 0, offset); // the guest's own UART may stop
    code.str(4, 0, offset).ldr(5, 0, offset).str(3, 0, offset).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(stored(rig, offset) == std::vector<std::uint64_t>{own | other | 5, own, own | 8, own});
    CHECK(rig.reg(0, 4) == 8);
    CHECK(rig.reg(0, 5) == (own | 8));
    check_told(rig, abi::FaultReason::uart_kept, offset, 2);
    if (traced == "all") CHECK(compare_with_bus(rig) == "");
    else CHECK(rig.records_of(abi::RecordType::access).empty());
}

TEST_CASE("a store of bytes that reaches the bit of the hypervisor's UART keeps it") {
    Rig rig(with_controller(tracing(GENERATE(values(engines)), "all")));
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(1, own).mov(2, 0x0101).str(1, 0, gates);
    code.strb(2, 0, gates).strb(2, 0, gates + 3);                      // beside it
    code.strb(2, 0, gates + 2).strh(2, 0, gates + 2).ldr(5, 0, gates); // each clears it
    code.strh(2, 0, gates).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 5) == 0x0103'0001);
    check_told(rig, abi::FaultReason::uart_kept, gates, 2);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("a UART of the hypervisor's that is off is not told of") {
    Rig rig(with_controller(tracing(GENERATE(values(engines)), "all")));
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(1, other).mov(2, 0);
    code.str(1, 0, gates).str(2, 0, gates).str(1, 0, resets).str(2, 0, resets + 4).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(stored(rig, gates) == std::vector<std::uint64_t>{other, 0});
    CHECK(rig.records_of(abi::RecordType::fault).empty());
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("a store that Hyp cannot do stops the hypervisor's UART, and is told of") {
    Rig rig(with_controller(tracing(GENERATE(values(engines)), "all")));
    Code code = rig.program(0);
    code.mov(0, at::wide + gates - 4).mov(1, 3).mov(2, own).mov(3, 0);
    code.stm(0, 0x0006).mov(1, 4).mov(2, 0).stm(0, 0x0006); // its first word is another register
    code.str(3, 0, 4).end();                                // is off already
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(stored(rig, gates) == std::vector<std::uint64_t>{own, 0, 0});
    check_told(rig, abi::FaultReason::uart_stopped, gates, 1);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("under `stall` a store that would stop the hypervisor's UART waits for all its records",
          "[protocol]") {
    RigOptions options = tracing(GENERATE(values(engines)), "all");
    options.tree.policy = "stall";
    options.tree.area_size = 0x2'1000;
    std::uint64_t waits = 0; // it reads only when the guest waits
    options.read_when = [&waits](const Rig& rig) {
        return std::exchange(waits, rig.ring(0).statistics.retries) != waits;
    };
    Rig rig(with_controller(options));
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(1, own).mov(2, 0).mov(3, 1000).str(1, 0, gates);
    const std::uint32_t loop = code.here();
    code.str(2, 0, gates).subs(3, 3, 1).bne(loop).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.ring(0).lost == 0);
    CHECK(rig.ring(0).statistics.retries > 0);
    check_told(rig, abi::FaultReason::uart_kept, gates, 1000);
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("without a known clock controller, nothing is kept, and nothing traps for it") {
    Rig rig(with_controller(tracing(GENERATE(values(engines)), "none"), "acme,clocks"));
    Code code = rig.program(0);
    code.mov(0, at::wide).mov(1, own).mov(2, 0).str(1, 0, gates).str(2, 0, gates).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(stored(rig, gates) == std::vector<std::uint64_t>{own, 0});
    CHECK(rig.ring(0).statistics.traps == 0);
}
