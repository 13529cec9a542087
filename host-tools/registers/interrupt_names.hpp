// Values of a GIC's CPU interface as text, with the names of the interrupting devices.
#pragma once

#include "abi/record.hpp"
#include "registers/device_list.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::registers {

class InterruptNames {
public:
    /// `devices`: one for each region of the trace. `names`: what the trace calls them.
    void bind(std::span<const Device> devices, std::span<const std::string> names,
              std::span<const std::byte> tree);

    /// Whether region `device` says anything of interrupts.
    bool are_of(std::uint16_t device) const {
        return device < interfaces_.size() && interfaces_[device];
    }
    /// Whether the value of `record`, `offset` bytes behind the start of its region, is an
    /// interrupt that was read or written.
    bool says(const abi::Record& record, std::uint64_t offset) const;
    /// text() looks at so many low bits of a value that there are so many different answers.
    static constexpr std::size_t values = 0x2000;
    /// Such a value: "37 serial0", "PPI 27 timer", "SGI 3 from cpu1", "spurious".
    std::string text(std::uint64_t value);

    /// The devices of interrupt `id`: "serial0", or empty. Of many the first eight.
    std::string devices(unsigned id);

private:
    /// The devices of an interrupt.
    struct Named {
        std::string text;
        std::size_t devices = 0;
        std::size_t node = 0; ///< of the last one
    };

    void name_all();
    void add(unsigned id, std::size_t node, const std::string& name);

    std::vector<bool> interfaces_; ///< by region: it is the CPU interface of a GIC
    // Interrupts get their names when somebody asks for the first one: that goes over all nodes.
    std::vector<std::byte> tree_; ///< empty: they have them
    std::map<std::size_t, std::string> node_names_;
    std::map<unsigned, Named> names_;
};

} // namespace mmioscope::registers
