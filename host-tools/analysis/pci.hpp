// PCI functions and their base address registers, found from the guest's own accesses to their
// configuration space.
#pragma once

#include "analysis/analyses.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace mmioscope::analysis {

// A PCI function, as far as a trace shows it.

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

/// A device of this name is the configuration space of a PCI host bridge.
bool is_pci_configuration(std::string_view device);

class Pci final : public Analysis {
public:
    /// The functions that an import kept are all there are.
    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void forget() override { others_.clear(); }

    /// Functions that answered, ordered by place.
    std::vector<PciFunction> functions() const;

    /// One row for each function, those of an import first.
    table::Table table() override;

private:
    struct Bar {
        std::uint32_t base = 0;   ///< last value written, except all ones
        std::uint32_t answer = 0; ///< read back after all ones: the writable bits; 0: not asked
        bool asked = false;       ///< the last value written was all ones
    };
    struct Configuration {
        std::optional<std::uint32_t> id;     ///< device and vendor
        std::optional<std::uint32_t> class_; ///< class, revision
        unsigned header = 0;                 ///< header type
        unsigned interrupt = 0;              ///< interrupt line
        std::array<Bar, 7> bars;             ///< BARs 0 to 5, and the ROM
    };

    static void read(Configuration& of, unsigned reg, std::uint32_t value, unsigned size);
    static void write(Configuration& of, unsigned reg, std::uint32_t value, unsigned size);
    static Bar* bar(Configuration& of, unsigned reg);
    static PciFunction function(std::uint32_t place, const Configuration& from);

    std::vector<PciFunction> kept_;
    std::map<std::uint32_t, Configuration> configurations_; ///< by PciFunction::place
    std::vector<std::uint8_t> others_; ///< by Event::place_id(); 1: not a PCI configuration space
};

} // namespace mmioscope::analysis
