// Values of a GIC's CPU interface as text, with the names of the interrupting devices.
#pragma once

#include "abi/record.hpp"
#include "registers/device_list.hpp"
#include "tree/tree_nodes.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::registers {

// GIC Architecture Specification (IHI 0048B) 2.2.1, 3.2.5.
inline constexpr unsigned first_shared_interrupt = 32; ///< those below are a CPU's own: SGIs, PPIs
inline constexpr unsigned first_special_interrupt = 1020; ///< from here on no interrupts

/// The interrupt in a value of GICC_IAR or GICC_EOIR (4.4.4): bits 9:0.
constexpr unsigned interrupt_of(std::uint64_t value) {
    return value & 0x3ff;
}

class InterruptNames {
public:
    /// `devices`: one for each region of the trace. `names`: the devices' names in the trace.
    void bind(std::span<const Device> devices, std::span<const std::string> names,
              std::span<const std::byte> tree);

    /// Whether region `device` has registers with interrupt numbers.
    bool are_of(std::uint16_t device) const {
        return device < interfaces_.size() && interfaces_[device];
    }
    /// Whether the value of `record`, at `offset` from its region's start, is an interrupt that was
    /// read or written.
    bool says(const abi::Record& record, std::uint64_t offset) const;
    /// text() uses only the low bits of a value, so this is the number of different results.
    static constexpr std::size_t values = 0x2000;
    /// The text for such a value: "37 serial0", "PPI 27 timer", "SGI 3 from cpu1", "spurious".
    std::string text(std::uint64_t value);

    /// What text() may give, and the names of the devices in it, without those of their interrupts:
    /// for the interrupts that devices have, SGIs and spurious ones.
    std::vector<std::string> all_names();

    /// The devices of interrupt `id`: "serial0", or empty. At most the first eight.
    std::string devices(unsigned id);

private:
    /// The devices of an interrupt.
    struct Named {
        std::string text;
        std::size_t devices = 0;
        std::size_t node = 0; ///< of the last device
    };

    void name_all();
    void add(unsigned id, std::size_t node, const std::string& name);

    std::vector<bool> interfaces_; ///< by region: whether it is the CPU interface of a GIC
    // Names are found at the first request, which goes through all nodes.
    std::vector<std::byte> tree_; ///< empty: names were found
    std::map<std::size_t, std::string> node_names_;
    std::map<unsigned, Named> names_;
};

// The GIC interrupts that a device tree assigns to its nodes.

struct TreeInterrupt {
    unsigned id;      ///< as in the GIC: 16 to 31 private, 32 and up shared
    std::string name; ///< from `interrupt-names`; may be empty
};

/// Whether the node is a GIC with distributor and CPU interface (version 1 or 2).
bool is_gic(const tree::TreeNodes& tree, std::size_t node);

/// The interrupts in `interrupts` or `interrupts-extended` of `node`, through `interrupt-map`s and
/// controllers that pass on the GIC's own numbers. Leaves out those that end elsewhere (a GPIO,
/// PCI).
std::vector<TreeInterrupt> interrupts_of(const tree::TreeNodes& tree, std::size_t node);

} // namespace mmioscope::registers
