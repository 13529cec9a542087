#include "trap/translate.hpp"

#include "arch/psr.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

// ATS1Cxx (ARM ARM B3.12.7): privileged or not. PAR belongs to the guest and is restored. If other
// CPUs change the tables meanwhile, the guest races with itself, as without Hyp.
template <class Privileged, class User>
std::optional<PhysicalAddress> translate_by(const Frame& frame, VirtualAddress va) {
    const std::uint64_t kept = port::read<reg::PAR>();
    if (arch::mode_of(frame.psr) == arch::Mode::usr) port::write<User>(va.value);
    else port::write<Privileged>(va.value);
    port::synchronize_context();
    const std::uint64_t par = port::read<reg::PAR>();
    port::write<reg::PAR>(kept);
    constexpr std::uint64_t failed = 1;
    if ((par & failed) != 0) return std::nullopt;
    constexpr std::uint64_t page_mask = 0xff'ffff'f000;
    return PhysicalAddress{(par & page_mask) | (va.value & (page_size - 1))};
}

} // namespace

std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va) {
    return translate_by<reg::ATS1CPR, reg::ATS1CUR>(frame, va);
}

std::optional<PhysicalAddress> translate_store(const Frame& frame, VirtualAddress va) {
    return translate_by<reg::ATS1CPW, reg::ATS1CUW>(frame, va);
}

} // namespace mmioscope
