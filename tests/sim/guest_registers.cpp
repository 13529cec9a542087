// The guest's registers by its mode, flags and conditions (ARM ARM B1.3, A8.3).
#include "guest_cpu.hpp"

namespace mmioscope::sim {

using arch::Mode;
using port::Banked;

namespace {
constexpr std::uint32_t flag_n = 1u << 31;
constexpr std::uint32_t flag_z = 1u << 30;
constexpr std::uint32_t flag_c = 1u << 29;
constexpr std::uint32_t flag_v = 1u << 28;

/// The bank of SP in a mode; that of LR is the next in the enumeration except for User mode.
Banked stack_of(Mode mode) {
    switch (mode) {
    case Mode::usr: case Mode::sys: return Banked::sp_usr;
    case Mode::abt: return Banked::sp_abt;
    case Mode::und: return Banked::sp_und;
    case Mode::irq: return Banked::sp_irq;
    case Mode::fiq: return Banked::sp_fiq;
    default: return Banked::sp_svc;
    }
}
unsigned bank_of(Mode mode, unsigned n) {
    if (n < 13) return static_cast<unsigned>(Banked::r8_fiq) + n - 8;
    return static_cast<unsigned>(stack_of(mode)) + (n - 13);
}
bool is_banked(Mode mode, unsigned n) { return n >= 13 || (n >= 8 && mode == Mode::fiq); }
bool is_user_link(Mode mode, unsigned n) {
    return n == 14 && (mode == Mode::usr || mode == Mode::sys);
}
} // namespace

std::uint32_t GuestCpu::get(unsigned n) const {
    const Mode mode = core_.mode();
    if (n == 15) return core_.frame.pc + (core_.thumb() ? 4 : 8);
    if (is_user_link(mode, n)) return core_.frame.lr_usr;
    return is_banked(mode, n) ? core_.banked[bank_of(mode, n)] : core_.frame.r[n];
}

void GuestCpu::set(unsigned n, std::uint32_t value) {
    const Mode mode = core_.mode();
    if (is_user_link(mode, n)) core_.frame.lr_usr = value;
    else if (is_banked(mode, n)) core_.banked[bank_of(mode, n)] = value;
    else core_.frame.r[n] = value;
}

GuestCpu::Effect GuestCpu::branch(std::uint32_t address) {
    if (address == core_.frame.pc) return Effect::ended;
    core_.frame.pc = address;
    return Effect::jumped;
}

GuestCpu::Effect GuestCpu::exchange(std::uint32_t address) {
    core_.frame.psr =
        (core_.frame.psr & ~arch::psr_thumb) | ((address & 1) != 0 ? arch::psr_thumb : 0);
    return branch(address & ~1u);
}

bool GuestCpu::condition_holds(unsigned condition) const {
    const std::uint32_t psr = core_.frame.psr;
    return sim::condition_holds(condition, (psr & flag_n) != 0, (psr & flag_z) != 0,
                                (psr & flag_c) != 0, (psr & flag_v) != 0);
}

unsigned GuestCpu::it_state() const {
    return ((core_.frame.psr >> 10 & 0x3f) << 2) | (core_.frame.psr >> 25 & 3);
}

std::uint32_t GuestCpu::add(std::uint32_t a, std::uint32_t b, bool subtract, bool set_flags) {
    const std::uint32_t operand = subtract ? ~b : b;
    const std::uint64_t wide = std::uint64_t{a} + operand + (subtract ? 1 : 0);
    const auto sum = static_cast<std::uint32_t>(wide);
    if (!set_flags) return sum;
    std::uint32_t psr = core_.frame.psr & ~(flag_n | flag_z | flag_c | flag_v);
    if ((sum >> 31) != 0) psr |= flag_n;
    if (sum == 0) psr |= flag_z;
    if ((wide >> 32) != 0) psr |= flag_c;
    if (((~(a ^ operand) & (a ^ sum)) >> 31) != 0) psr |= flag_v;
    core_.frame.psr = psr;
    return sum;
}

} // namespace mmioscope::sim
