// Everything known about the devices of one trace: registers, interrupts, and their device tree
// nodes.
#pragma once

#include "file/trace_reader.hpp"
#include "registers/device_registers.hpp"
#include "registers/interrupt_names.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::registers {

/// What the user says about devices.
struct Sources {
    std::vector<std::string> files; ///< see RegisterBook::add_file()
    std::string tree;               ///< a device tree, for a trace without one; empty: none
};

class TraceDevices {
public:
    /// Reads the files. Throws Error (bad_input).
    explicit TraceDevices(const Sources& sources);

    /// Updates from the trace's head in `reader`, if that has changed.
    void refresh(const trace::TraceReader& reader);

    /// One line for each of the user's files of which something is left out, and for each that
    /// describes no device of the trace.
    std::vector<std::string> remarks();

    const std::vector<Device>& devices() const { return devices_; }
    /// The device tree used: the user's, or the trace's.
    std::span<const std::byte> tree() const { return tree_.empty() ? seen_tree_ : tree_; }
    DeviceRegisters& registers() { return registers_; }
    InterruptNames& interrupts() { return interrupts_; }

private:
    RegisterBook book_;
    std::vector<std::byte> tree_; ///< the user's; empty: none
    std::vector<Device> devices_;
    DeviceRegisters registers_;
    InterruptNames interrupts_;
    std::vector<abi::RegionEntry> seen_regions_;
    std::vector<std::byte> seen_tree_;
    std::uint64_t seen_changes_ = 0;
    bool fresh_ = true;
};

} // namespace mmioscope::registers
