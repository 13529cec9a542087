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

/// Throws Error (bad_input) if there is no such node: there is no hypervisor, or it announces
/// nothing.
Announced read_announced();

/// The device tree that the kernel got.
std::vector<std::byte> device_tree();

/// Names and paths of its aliases, as the kernel shows them.
std::vector<std::pair<std::string, std::string>> device_tree_aliases();

/// The content of a small file of the kernel, without its line end; empty if it cannot be read.
std::string read_text(const std::string& path);

} // namespace mmioscope::guest
