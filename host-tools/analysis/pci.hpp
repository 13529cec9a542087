// PCI functions, as the guest's own accesses to their configuration space tell: which there are,
// and where their base address registers were put.
#pragma once

#include "export/cell.hpp"
#include "mmioscope/event.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mmioscope::analysis {

class Pci {
public:
    void add(const Event& event);

    /// A heading and a line for each function that answered; with line ends.
    std::string table() const;
    /// The same for programs.
    exporting::Table rows() const;

private:
    struct Bar {
        std::uint32_t base = 0;   ///< written last, all ones left out
        std::uint32_t answer = 0; ///< to all ones: which bits can be written; 0: not asked
        bool asked = false;       ///< all ones were written last
    };
    struct Function {
        std::optional<std::uint32_t> id;     ///< device and vendor
        std::optional<std::uint32_t> class_; ///< class, revision
        unsigned header = 0;                 ///< type of its header
        std::array<Bar, 6> bars;
    };

    void read(Function& function, unsigned reg, std::uint32_t value, unsigned size);
    void write(Function& function, unsigned reg, std::uint32_t value);
    /// "0=0x10001000+0x1000" and so on; empty if it has none.
    static std::string bars_text(const Function& function);

    std::map<std::uint32_t, Function> functions_; ///< by bus, device, function: their ECAM bits
};

} // namespace mmioscope::analysis
