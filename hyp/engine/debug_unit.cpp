#include "engine/debug_unit.hpp"

#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "guest/registers.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

#include <utility>

namespace mmioscope {

namespace {

template <unsigned... N>
void clear_breakpoints(unsigned count, std::integer_sequence<unsigned, N...>) {
    ((N < count ? port::write<reg::DBGBCR<N>>(0) : void()), ...);
}

template <unsigned... N>
void save(BorrowedDebug& to, std::integer_sequence<unsigned, N...>) {
    ((to.value[N] = port::read<reg::DBGBVR<N>>()), ...);
    ((to.control[N] = port::read<reg::DBGBCR<N>>()), ...);
}

/// Control 0 first: a pair must not match while only half of it is new.
template <unsigned... N>
void load(const std::uint32_t (&value)[step_breakpoints],
          const std::uint32_t (&control)[step_breakpoints],
          std::integer_sequence<unsigned, N...>) {
    (port::write<reg::DBGBCR<N>>(0), ...);
    (port::write<reg::DBGBVR<N>>(value[N]), ...);
    (port::write<reg::DBGBCR<N>>(control[N]), ...);
}

constexpr auto each = std::make_integer_sequence<unsigned, step_breakpoints>{};

} // namespace

bool start_debug_unit() {
    port::write<reg::DBGOSLAR>(0);
    port::synchronize_context();
    const unsigned count = arch::breakpoint_count(port::read<reg::DBGDIDR>());
    if (count < step_breakpoints) return false;
    clear_breakpoints(count, std::make_integer_sequence<unsigned, 16>{});

    // With DBGEN low the bit does not stick, and breakpoints never fire: the guest would run on
    // with its shadow table, and the trace would miss everything in silence.
    const std::uint32_t dscr = port::read<reg::DBGDSCR>();
    port::write<reg::DBGDSCR>(dscr | arch::dscr_mdbgen);
    port::synchronize_context();
    const std::uint32_t now = port::read<reg::DBGDSCR>();
    port::write<reg::DBGDSCR>(dscr);
    port::synchronize_context();
    return (now & arch::dscr_mdbgen) != 0 && (now & arch::dscr_hdbgen) == 0;
}

BorrowedDebug arm_breakpoints(std::uint32_t next_pc, bool thumb) {
    BorrowedDebug borrowed{};
    save(borrowed, each);
    borrowed.dscr = port::read<reg::DBGDSCR>();

    const bool vectors_thumb = (port::read<reg::SCTLR>() & arch::sctlr_te) != 0;
    const std::uint32_t vectors = guest_vectors();
    const std::uint32_t address[step_breakpoints] = {next_pc, vectors + 0x04, vectors + 0x0c,
                                                     vectors + 0x10};
    std::uint32_t value[step_breakpoints];
    std::uint32_t control[step_breakpoints];
    for (unsigned i = 0; i < step_breakpoints; ++i) {
        value[i] = arch::address_value(address[i]);
        control[i] = arch::address_match(address[i], i == 0 ? thumb : vectors_thumb);
    }
    load(value, control, each);
    port::write<reg::DBGDSCR>(borrowed.dscr | arch::dscr_mdbgen);
    port::write<reg::HDCR>(port::read<reg::HDCR>() | arch::hdcr_step);
    return borrowed; // the ERET synchronises all this
}

void disarm_breakpoints(const BorrowedDebug& borrowed) {
    port::write<reg::HDCR>(port::read<reg::HDCR>() & ~arch::hdcr_step);
    port::write<reg::DBGDSCR>(borrowed.dscr);
    load(borrowed.value, borrowed.control, each);
}

} // namespace mmioscope
