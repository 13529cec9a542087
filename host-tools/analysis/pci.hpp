// PCI functions and their base address registers, found from the guest's own accesses to their
// configuration space.
#pragma once

#include "analysis/analyses.hpp"
#include "analysis/pci_function.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::analysis {

/// A device of this name is the configuration space of a PCI host bridge.
bool is_pci_configuration(std::string_view device);

class Pci final : public Analysis {
public:
    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void forget() override { others_.clear(); }

    /// Those that answered, by their place.
    std::vector<PciFunction> functions() const;

    /// A row for each of them.
    table::Table table() override;

private:
    struct Bar {
        std::uint32_t base = 0;   ///< written last, all ones left out
        std::uint32_t answer = 0; ///< to all ones: which bits can be written; 0: not asked
        bool asked = false;       ///< all ones were written last
    };
    struct Configuration {
        std::optional<std::uint32_t> id;     ///< device and vendor
        std::optional<std::uint32_t> class_; ///< class, revision
        unsigned header = 0;                 ///< type of its header
        unsigned interrupt = 0;              ///< its line
        std::array<Bar, 7> bars;             ///< 0 to 5, and the ROM's
    };

    static void read(Configuration& of, unsigned reg, std::uint32_t value, unsigned size);
    static void write(Configuration& of, unsigned reg, std::uint32_t value, unsigned size);
    static Bar* bar(Configuration& of, unsigned reg);
    static PciFunction function(std::uint32_t place, const Configuration& from);

    std::map<std::uint32_t, Configuration> configurations_; ///< by PciFunction::place
    std::vector<std::uint8_t> others_; ///< by Event::place_id(): 1: not of such a device
};

} // namespace mmioscope::analysis
