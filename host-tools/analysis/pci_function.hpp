// A PCI function, as far as a trace shows it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace mmioscope::analysis {

/// A range that a function answers at.
struct PciRange {
    std::uint64_t base = 0; ///< on the PCI bus; 0: none was given
    std::uint64_t size = 0; ///< 0: not asked for
    unsigned kind = 0; ///< the low bits of its register: bit 0 ports, 2:1 its width, 3 prefetchable
};

struct PciFunction {
    std::uint32_t place = 0; ///< bus << 8 | device << 3 | function
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;
    std::optional<std::uint32_t> class_; ///< base class, subclass, interface
    unsigned interrupt = 0;              ///< its register Interrupt Line
    /// Of BARs 0 to 5 and of the ROM; of a BAR of 64 bits the next one's is empty.
    std::array<PciRange, 7> ranges;
};

inline constexpr std::size_t pci_rom = 6; ///< of PciFunction::ranges

} // namespace mmioscope::analysis
