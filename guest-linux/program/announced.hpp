// What the hypervisor has announced in the guest's device tree (abi/control.hpp, node /mmioscope).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::guest {

struct PhysicalRange {
    std::uint64_t begin;
    std::uint64_t size; ///< bytes
};

struct Announced {
    std::optional<PhysicalRange> control; ///< the control page
    std::optional<PhysicalRange> trace;   ///< the trace area, if the guest may read it
};

/// Throws Error (bad_input) if there is no such node: no hypervisor, or one that shows nothing.
Announced read_announced();

/// The device tree as the kernel was given it.
std::vector<std::byte> device_tree();

/// Names and paths of its aliases, from the kernel's own view of it.
std::vector<std::pair<std::string, std::string>> device_tree_aliases();

/// A small file of the kernel's, without the line's end; empty if it cannot be read.
std::string read_text(const std::string& path);

} // namespace mmioscope::guest
