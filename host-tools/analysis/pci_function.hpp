// A PCI function, as far as a trace shows it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace mmioscope::analysis {

/// An address range of a function.
struct PciRange {
    std::uint64_t base = 0; ///< on the PCI bus; 0: not assigned
    std::uint64_t size = 0; ///< 0: the guest did not ask
    unsigned kind = 0;      ///< the low bits of the BAR: bit 0 I/O ports, 2:1 width, 3 prefetchable
};

struct PciFunction {
    std::uint32_t place = 0; ///< bus << 8 | device << 3 | function
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;
    std::optional<std::uint32_t> class_; ///< base class, subclass, interface
    unsigned interrupt = 0;              ///< its Interrupt Line register
    /// BARs 0 to 5, and the ROM. The entry after a 64-bit BAR is empty.
    std::array<PciRange, 7> ranges;
};

inline constexpr std::size_t pci_rom = 6; ///< index in PciFunction::ranges

} // namespace mmioscope::analysis
