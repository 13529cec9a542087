// Everything known about the devices of one trace: registers, interrupts, and their device tree
// nodes.
#pragma once

#include "file/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "registers/device_registers.hpp"
#include "registers/interrupt_names.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
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

// How many of the accessed registers have names. Counts registers, not accesses.

/// A register of a device, or an offset without a description.
struct Touched {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    bool device = true; ///< all accesses so far are named to this level
    bool reg = true;
    bool field = true;
};

/// A number of registers, and how many of them have names at each level.
struct CoverageCount {
    std::uint64_t touched = 0;
    std::uint64_t device = 0;
    std::uint64_t reg = 0;
    std::uint64_t field = 0;

    void add(const Touched& one);
};

class Coverage {
public:
    void add(const Event& event);

    /// By device, and for all together.
    std::map<std::string, CoverageCount> devices() const;
    CoverageCount total() const;

    using Place = std::pair<std::string, std::uint64_t>; ///< device, offset
    /// Places without a name for their fields.
    std::map<Place, Touched> unnamed() const;

private:
    std::map<Place, Touched> touched_;
};

} // namespace mmioscope::registers
