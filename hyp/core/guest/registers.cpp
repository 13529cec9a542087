#include "guest/registers.hpp"

#include "arch/control.hpp"
#include "port/banked.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

using arch::Mode;
using port::Banked;

struct Banks {
    Banked sp;
    Banked lr;
    Banked spsr;
};

/// The banks of an exception mode. LR of usr and sys is in the frame.
Banks banks_of(Mode mode) {
    switch (mode) {
    case Mode::fiq: return {Banked::sp_fiq, Banked::lr_fiq, Banked::spsr_fiq};
    case Mode::irq: return {Banked::sp_irq, Banked::lr_irq, Banked::spsr_irq};
    case Mode::abt: return {Banked::sp_abt, Banked::lr_abt, Banked::spsr_abt};
    case Mode::und: return {Banked::sp_und, Banked::lr_und, Banked::spsr_und};
    default: return {Banked::sp_svc, Banked::lr_svc, Banked::spsr_svc};
    }
}

bool uses_user_bank(Mode mode) {
    return mode == Mode::usr || mode == Mode::sys;
}

Banked fiq_bank(unsigned n) {
    return static_cast<Banked>(static_cast<unsigned>(Banked::r8_fiq) + (n - 8));
}

} // namespace

std::uint32_t banked_register(const Frame& frame, unsigned n) {
    const Mode mode = arch::mode_of(frame.psr);
    if (n < 13) return port::read_banked(fiq_bank(n));
    if (n == 15) return frame.pc + 8;
    if (uses_user_bank(mode)) return n == 13 ? port::read_banked(Banked::sp_usr) : frame.lr_usr;
    return port::read_banked(n == 13 ? banks_of(mode).sp : banks_of(mode).lr);
}

std::uint32_t user_register(const Frame& frame, unsigned n) {
    if (n < 13) return frame.r[n];
    if (n == 13) return port::read_banked(Banked::sp_usr);
    return n == 14 ? frame.lr_usr : guest_register(frame, n);
}

bool has_own_bank(const Frame& frame) {
    return !uses_user_bank(arch::mode_of(frame.psr));
}

std::uint32_t saved_psr(const Frame& frame) {
    return port::read_banked(banks_of(arch::mode_of(frame.psr)).spsr);
}

std::uint32_t stack_pointer(Mode mode) {
    return port::read_banked(uses_user_bank(mode) ? Banked::sp_usr : banks_of(mode).sp);
}

void set_banked_register(Frame& frame, unsigned n, std::uint32_t value) {
    const Mode mode = arch::mode_of(frame.psr);
    if (n < 13) {
        port::write_banked(fiq_bank(n), value);
    } else if (uses_user_bank(mode)) {
        if (n == 13) port::write_banked(Banked::sp_usr, value);
        else frame.lr_usr = value;
    } else {
        port::write_banked(n == 13 ? banks_of(mode).sp : banks_of(mode).lr, value);
    }
}

std::uint32_t guest_task(const Frame& frame) {
    if (arch::mode_of(frame.psr) == Mode::usr) return port::read_banked(Banked::sp_svc);
    return port::read<reg::TPIDRURO>();
}

std::uint32_t guest_vectors() {
    if ((port::read<reg::SCTLR>() & arch::sctlr_v) != 0) return 0xffff'0000;
    return port::read<reg::VBAR>();
}

} // namespace mmioscope
