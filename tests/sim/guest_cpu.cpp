#include "guest_cpu.hpp"

#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "machine/machine.hpp"
#include "trap/fast_path.hpp"

namespace mmioscope::sim {

using arch::Mode;
using port::Banked;

std::uint64_t shadow_root(Machine& machine, unsigned cpu) {
    if (machine.breakpoints) return machine.shadow(cpu).root().value;
    return machine.cpus[cpu].step_page.view().root().value;
}

void GuestCpu::run() {
    sim_.synchronize(core_); // the ERET into the guest
    while (!core_.ended) step();
}

void GuestCpu::raise_interrupts() {
    Random& random = sim_.scheduler.random();
    if (random.one_in(sim_.conditions.interrupt_one_in)) core_.irq_pending = true;
    if (random.one_in(sim_.conditions.interrupt_one_in)) core_.fiq_pending = true;
    const std::uint32_t masks = sim_.defects.interrupt_masks_ignored ? 0 : core_.frame.psr;
    const std::uint32_t link = core_.frame.pc + 4;
    if (core_.abort_pending && (masks & arch::psr_a) == 0) {
        core_.abort_pending = false;
        asynchronous_abort();
    } else if (core_.fiq_pending && (masks & arch::psr_f) == 0) {
        core_.fiq_pending = false;
        take(Mode::fiq, 0x1c, link, true);
    } else if (core_.irq_pending && (masks & arch::psr_i) == 0) {
        core_.irq_pending = false;
        take(Mode::irq, 0x18, link, true);
    } else {
        return;
    }
    ++sim_.interrupts_taken;
    if (sim_.hypervisor != nullptr &&
        core_.root() != sim_.hypervisor->normal(core_.number).root().value)
        throw Failure{"an interrupt was taken on a shadow table"};
}

/// Invariants before each instruction of the guest.
void GuestCpu::check_view() {
    if (sim_.hypervisor == nullptr) return;
    const std::uint64_t root = core_.root();
    const Registers& system = core_.system;
    if (system.get<reg::VTCR>() != 0x8000'3540) throw Failure{"VTCR is not what the tables need"};
    if ((system.get<reg::HCR>() & 1) == 0) throw Failure{"the guest runs without stage 2"};
    if (root == sim_.hypervisor->normal(core_.number).root().value) return;
    const bool original =
        sim_.hypervisor->has_original && root == sim_.hypervisor->original().root().value;
    if (!original && root != shadow_root(*sim_.hypervisor, core_.number))
        throw Failure{"VTTBR holds neither the normal table nor this CPU's shadow"};
    if (!in_step(state_)) throw Failure{"the guest runs on its shadow table without a step"};
    if ((core_.frame.psr & arch::psr_aif) != arch::psr_aif)
        throw Failure{"interrupts are open on a shadow table"};
}

void GuestCpu::step() {
    sim_.point();
    raise_interrupts();
    if (sim_.meanwhile) sim_.meanwhile(core_);
    const bool stopped = hits_breakpoint();
    if (stopped && !sim_.conditions.prefetch_abort_first) return debug_event(by_breakpoint);
    if (!stopped) check_view();

    std::uint16_t first = 0;
    std::uint16_t second = 0;
    if (!fetch(core_.frame.pc, first)) return;
    const bool thumb = core_.thumb();
    wide_ = !thumb || (first >> 11) >= 0x1d;
    if (wide_ && !fetch(core_.frame.pc + 2, second)) return;
    if (stopped) return debug_event(by_breakpoint);
    execute(thumb ? (wide_ ? (std::uint32_t{first} << 16) | second : first)
                  : (std::uint32_t{second} << 16) | first);
}

void GuestCpu::execute(std::uint32_t word) {
    const bool thumb = core_.thumb();
    const unsigned it = it_state();
    const unsigned condition = !thumb ? word >> 28 : (it & 0xf) != 0 ? it >> 4 : 14u;
    Effect effect = Effect::next;
    if (condition >= 14 || condition_holds(condition))
        effect = !thumb  ? execute_arm(word)
                 : wide_ ? execute_thumb_wide(word)
                         : execute_thumb(word);
    if (effect == Effect::trapped) return;
    core_.executed_on_shadow = on_shadow() ? core_.executed_on_shadow + 1 : 0;
    // Calculations may follow a load-exclusive there, and its store (watching/exclusive_pair.hpp).
    constexpr unsigned in_pair = 5;
    if (core_.executed_on_shadow == 1)
        core_.pair_on_shadow = !thumb && (word & 0x0f90'0fff) == 0x0190'0f9f;
    if (core_.executed_on_shadow > (core_.pair_on_shadow ? in_pair : sim_.may_run_on))
        throw Failure{"two instructions ran on a shadow table"};
    if (effect == Effect::ended) core_.ended = true;
    if (effect != Effect::next) return;
    core_.frame.pc += wide_ ? 4 : 2;
    if ((it & 0xf) != 0) core_.frame.psr = arch::it_advance(core_.frame.psr);
}

Matches where_matches(std::uint32_t dbgbcr) {
    const std::uint32_t hmc = dbgbcr >> 13 & 1, ssc = dbgbcr >> 14 & 3, pmc = dbgbcr >> 1 & 3;
    if (pmc == 0 || ssc == 3) throw Failure{"a breakpoint for modes that are not simulated"};
    Matches matches{.nonsecure = ssc != 2, .secure = ssc != 1};
    matches.pl0 = (pmc & 2) != 0;
    matches.pl1 = (pmc & 1) != 0;
    matches.hyp = hmc != 0 && matches.nonsecure;
    return matches;
}

/// Address matches of the enabled breakpoints (ARM ARM C3.2.3); the guest is Non-secure.
bool GuestCpu::hits_breakpoint() const {
    const Registers& system = core_.system;
    if (!monitor_debug_on()) return false;
    for (unsigned n = 0; n < 6; ++n) {
        const auto control = static_cast<std::uint32_t>(system.get(encode32(14, 0, 0, n, 5)));
        const auto value = static_cast<std::uint32_t>(system.get(encode32(14, 0, 0, n, 4)));
        const std::uint32_t selected = (control >> 5) & 0xf;
        const std::uint32_t wanted = core_.thumb() ? 3u << (core_.frame.pc & 2) : 0xfu;
        if ((control & 1) == 0 || value != (core_.frame.pc & ~3u) || (selected & wanted) != wanted)
            continue;
        const Matches where = where_matches(control);
        if (where.nonsecure && (core_.mode() == arch::Mode::usr ? where.pl0 : where.pl1))
            return true;
    }
    return false;
}

/// Sets DBGDSCR.MOE.
void GuestCpu::note_debug_event(unsigned method) {
    constexpr std::uint32_t tde = 1u << 8;
    constexpr std::uint32_t with_tde = 7u << 9; // TDRA, TDOSA, TDA: UNPREDICTABLE without (B4.1.66)
    const auto hdcr = core_.system.get<reg::HDCR>();
    const std::uint32_t dscr = core_.system.get<reg::DBGDSCR>();
    core_.system.set<reg::DBGDSCR>((dscr & ~arch::dscr_method) | method << 2);
    if ((hdcr & tde) != 0 && (hdcr & with_tde) != with_tde)
        throw Failure{"HDCR.TDE without the traps that belong to it"};
}

void GuestCpu::debug_event(unsigned method) {
    constexpr std::uint32_t status = 0x02; // IFSR, short-descriptor format; IFAR is UNKNOWN
    note_debug_event(method);
    if ((core_.system.get<reg::HDCR>() & arch::hdcr_tde) == 0) {
        core_.system.set<reg::IFSR>(status);
        return take(Mode::abt, 0x0c, core_.frame.pc + 4, true);
    }
    trap(0x20, 0x22, true);
}

/// BKPT is a debug event whatever DBGDSCR is (C3.2.1).
GuestCpu::Effect GuestCpu::breakpoint_instruction() {
    constexpr unsigned by_bkpt = 3;
    debug_event(by_bkpt);
    return Effect::trapped;
}

} // namespace mmioscope::sim
