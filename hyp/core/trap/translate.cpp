#include "trap/translate.hpp"

#include "arch/psr.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

// ATS1CPR, ATS1CUR (ARM ARM B3.12.7). PAR belongs to the guest and is restored. If other CPUs
// change the tables meanwhile, the guest races with itself, as without Hyp.
std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va) {
    const std::uint64_t kept = port::read<reg::PAR>();
    if (arch::mode_of(frame.psr) == arch::Mode::usr) port::write<reg::ATS1CUR>(va.value);
    else port::write<reg::ATS1CPR>(va.value);
    port::synchronize_context();
    const std::uint64_t par = port::read<reg::PAR>();
    port::write<reg::PAR>(kept);
    constexpr std::uint64_t failed = 1;
    if ((par & failed) != 0) return std::nullopt;
    constexpr std::uint64_t page_mask = 0xff'ffff'f000;
    return PhysicalAddress{(par & page_mask) | (va.value & (page_size - 1))};
}

} // namespace mmioscope
