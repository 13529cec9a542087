#include "dev/gic.hpp"

namespace mmioscope {

namespace {
// IHI 0048B, 4.3 and 4.4.
constexpr std::uint64_t gicd_typer = 0x004;
constexpr std::uint64_t gicd_igroupr = 0x080;
constexpr std::uint64_t gicc_ctlr = 0x000;
constexpr std::uint64_t gicc_pmr = 0x004;
constexpr std::uint32_t typer_security = 1u << 10;
constexpr std::uint32_t typer_lines = 0x1f; ///< 32 * (n + 1) interrupts
constexpr std::uint32_t all_priorities = 0xff;
} // namespace

void give_gic_to_nonsecure(const Board& on, OwnBus& bus, bool primary) {
    if (on.gic_distributor.value == 0) return;
    const std::uint32_t typer = bus.read(on.gic_distributor + gicd_typer);
    if ((typer & typer_security) == 0) return;
    // Word 0 is banked for each CPU.
    const std::uint32_t words = primary ? (typer & typer_lines) + 1 : 1;
    for (std::uint32_t i = 0; i < words; ++i)
        bus.write(on.gic_distributor + gicd_igroupr + 4 * i, ~0u);
    bus.write(on.gic_cpu_interface + gicc_pmr, all_priorities);
}

void open_cpu_interface(const Board& on, OwnBus& bus) {
    if (on.gic_cpu_interface.value == 0) return;
    bus.write(on.gic_cpu_interface + gicc_pmr, all_priorities);
    bus.write(on.gic_cpu_interface + gicc_ctlr, 1);
}

} // namespace mmioscope
