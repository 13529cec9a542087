// The guest's watchpoints (ARM ARM C3.3): checked after the MMU's faults, and before the access.
#include "guest_cpu.hpp"

#include "arch/debug.hpp"

namespace mmioscope::sim {

namespace {
constexpr unsigned watchpoints = 4; // as in DBGDIDR

/// DBGWCR.LSC and BAS: the direction and the bytes of the word.
bool matches(std::uint32_t control, std::uint32_t value, std::uint32_t va, unsigned log2_size,
             bool write) {
    const std::uint32_t way = control >> 3 & 3;
    const std::uint32_t bytes = ((1u << (1u << log2_size)) - 1) << (va & 3);
    return (control & 1) != 0 && (way & (write ? 2 : 1)) != 0 && value == (va & ~3u) &&
           (control >> 5 & bytes) != 0;
}
} // namespace

bool GuestCpu::monitor_debug_on() const {
    const Registers& system = core_.system;
    const bool os_locked =
        (system.get<reg::DBGOSLSR>() & 2) != 0 || (system.get<reg::DBGOSDLR>() & 1) != 0;
    return (system.get<reg::DBGDSCR>() & arch::dscr_mdbgen) != 0 && !os_locked &&
           (sim_.conditions.no_debug_events >> core_.number & 1) == 0;
}

bool GuestCpu::hits_watchpoint(std::uint32_t va, unsigned log2_size, bool write) const {
    if (!monitor_debug_on()) return false;
    for (unsigned n = 0; n < watchpoints; ++n) {
        const auto control = static_cast<std::uint32_t>(core_.system.get(encode32(14, 0, 0, n, 7)));
        const auto value = static_cast<std::uint32_t>(core_.system.get(encode32(14, 0, 0, n, 6)));
        if (matches(control, value, va, log2_size, write)) return true;
    }
    return false;
}

/// To the guest, or with HDCR.TDE to Hyp (B1.8.9).
void GuestCpu::watchpoint_event(std::uint32_t va, bool write) {
    constexpr std::uint32_t tde = 1u << 8;
    constexpr std::uint32_t debug_event = 0x02; // DFSR, short-descriptor format
    constexpr std::uint32_t method = 0x3c;      // DBGDSCR.MOE
    const auto dscr = static_cast<std::uint32_t>(core_.system.get<reg::DBGDSCR>());
    core_.system.set<reg::DBGDSCR>((dscr & ~method) | 0xa << 2);
    if ((core_.system.get<reg::HDCR>() & tde) == 0) {
        core_.system.set<reg::DFSR>(debug_event);
        core_.system.set<reg::DFAR>(va);
        return take(arch::Mode::abt, 0x10, core_.frame.pc + 8, true);
    }
    core_.system.set<reg::HDFAR>(va);
    trap(0x24, 0x22 | (write ? 1u << 6 : 0), true);
}

} // namespace mmioscope::sim
