#include "trap/translate.hpp"

#include "arch/psr.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

// PAR in the 64-bit format, which Hyp gets (ARM ARM B4.1.112).
constexpr std::uint64_t failed = 1;
constexpr std::uint64_t by_stage2 = 1u << 9; ///< FSTAGE
constexpr std::uint64_t page_mask = 0xff'ffff'f000;

// PAR after ATS1Cxx (ARM ARM B3.12.7): privileged or not. PAR belongs to the guest and is restored.
// If other CPUs change the tables meanwhile, the guest races with itself, as without Hyp.
template <class Privileged, class User>
std::uint64_t ask(const Frame& frame, VirtualAddress va) {
    const std::uint64_t kept = port::read<reg::PAR>();
    if (arch::mode_of(frame.psr) == arch::Mode::usr) port::write<User>(va.value);
    else port::write<Privileged>(va.value);
    port::synchronize_context();
    const std::uint64_t par = port::read<reg::PAR>();
    port::write<reg::PAR>(kept);
    return par;
}

std::optional<PhysicalAddress> address_in(std::uint64_t par, VirtualAddress va) {
    if ((par & failed) != 0) return std::nullopt;
    return PhysicalAddress{(par & page_mask) | (va.value & (page_size - 1))};
}

} // namespace

bool is_unmapped(const Frame& frame, VirtualAddress va) {
    return (ask<reg::ATS1CPR, reg::ATS1CUR>(frame, va) & (failed | by_stage2)) == failed;
}

std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va) {
    return address_in(ask<reg::ATS1CPR, reg::ATS1CUR>(frame, va), va);
}

std::optional<PhysicalAddress> translate_store(const Frame& frame, VirtualAddress va) {
    return address_in(ask<reg::ATS1CPW, reg::ATS1CUW>(frame, va), va);
}

} // namespace mmioscope
