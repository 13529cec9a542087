#include "guest/banks.hpp"

#include "arch/control.hpp"
#include "guest/registers.hpp"
#include "port/sysreg.hpp"
#include "port/vector.hpp"

namespace mmioscope {

namespace {

/// The order matters: each test makes the next one's instruction defined (ARM ARM B1.11.1). What
/// NSACR forbids shows in HCPTR and CPACR; NSACR itself does not exist everywhere (QEMU's virt).
bool usable(unsigned reg) {
    if ((port::read<reg::HCPTR>() & arch::hcptr_vfp) != 0) return false;
    if ((port::vector_control() & arch::fpexc_en) == 0) return false;
    if (reg < 16) return true;
    const bool disabled = (port::read<reg::CPACR>() & arch::cpacr_d32dis) != 0;
    return !disabled && (port::vector_features() & arch::mvfr0_registers) == arch::mvfr0_d32;
}

} // namespace

std::optional<std::uint32_t> vector_value(unsigned place, unsigned log2_size) {
    const unsigned reg = place / 8;
    if (!usable(reg)) return std::nullopt;
    const auto value = static_cast<std::uint32_t>(port::vector_doubleword(reg) >> 8 * (place % 8));
    return log2_size >= 2 ? value : value & ((1u << (8u << log2_size)) - 1);
}

} // namespace mmioscope
