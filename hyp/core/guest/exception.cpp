#include "guest/exception.hpp"

#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "guest/registers.hpp"
#include "port/banked.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

using arch::Mode;
using port::Banked;

struct Entry {
    Mode mode;
    Banked lr;
    Banked spsr;
    std::uint32_t vector;
    bool masks_abort;
};
constexpr Entry undefined{Mode::und, Banked::lr_und, Banked::spsr_und, undefined_vector, false};
constexpr Entry prefetch_abort{Mode::abt, Banked::lr_abt, Banked::spsr_abt, prefetch_vector, true};
constexpr Entry data_abort{Mode::abt, Banked::lr_abt, Banked::spsr_abt, data_vector, true};

/// Takes the exception as the hardware would; LR gets PC plus `return_offset`.
void take(Frame& frame, const Entry& entry, std::uint32_t return_offset) {
    const std::uint32_t sctlr = port::read<reg::SCTLR>();
    port::write_banked(entry.lr, frame.pc + return_offset);
    port::write_banked(entry.spsr, frame.psr);
    // Keeps the flags and GE.
    std::uint32_t psr = frame.psr & (arch::psr_f | arch::psr_a | 0xf80f'0000u);
    psr |= static_cast<std::uint32_t>(entry.mode) | arch::psr_i;
    if (entry.masks_abort) psr |= arch::psr_a;
    if ((sctlr & arch::sctlr_te) != 0) psr |= arch::psr_thumb;
    if ((sctlr & arch::sctlr_ee) != 0) psr |= arch::psr_e;
    frame.psr = psr;
    frame.pc = guest_vectors() + entry.vector;
}

constexpr std::uint32_t external_type = bit(12); ///< ExT of DFSR and IFSR

/// DFSR or IFSR in the guest's table format (B3.13.3).
std::uint32_t status(std::uint32_t short_format, std::uint32_t long_format) {
    const bool is_long = (port::read<reg::TTBCR>() & bit(31)) != 0;
    return is_long ? bit(9) | long_format : short_format;
}

/// Of a synchronous external abort.
std::uint32_t external_status() {
    return status(0x08, 0x10);
}

constexpr std::uint32_t wnr = bit(11); ///< DFSR: the access was a write

void take_data_abort(Frame& frame, VirtualAddress address, std::uint32_t dfsr) {
    port::write<reg::DFSR>(dfsr);
    port::write<reg::DFAR>(address.value);
    take(frame, data_abort, 8);
}

} // namespace

void inject_undefined(Frame& frame) {
    take(frame, undefined, in_thumb(frame) ? 2 : 4);
}

void inject_prefetch_abort(Frame& frame, VirtualAddress address, Abort by) {
    port::write<reg::IFSR>(external_status() | (by == Abort::slave_error ? external_type : 0));
    port::write<reg::IFAR>(address.value);
    take(frame, prefetch_abort, 4);
}

void inject_breakpoint(Frame& frame) {
    port::write<reg::IFSR>(status(0x02, 0x22));
    take(frame, prefetch_abort, 4);
}

void inject_data_abort(Frame& frame, VirtualAddress address, bool write, Abort by) {
    take_data_abort(frame, address,
                    external_status() | (write ? wnr : 0) |
                        (by == Abort::slave_error ? external_type : 0));
}

void inject_alignment_fault(Frame& frame, VirtualAddress address) {
    take_data_abort(frame, address, status(0x01, 0x21) | wnr);
}

bool took_external_abort() {
    constexpr std::uint32_t long_format = bit(9) | 0x3f;
    constexpr std::uint32_t short_format = bit(10) | bit(9) | 0xf;
    const std::uint32_t dfsr = port::read<reg::DFSR>();
    return (dfsr & ((dfsr & bit(9)) != 0 ? long_format : short_format)) == external_status();
}

void inject_watchpoint(Frame& frame, VirtualAddress address) {
    port::write<reg::DBGDSCR>((port::read<reg::DBGDSCR>() & ~arch::dscr_method) |
                              arch::dscr_by_watchpoint);
    take_data_abort(frame, address, status(0x02, 0x22));
}

} // namespace mmioscope
