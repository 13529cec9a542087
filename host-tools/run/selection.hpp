// Checks --trace against the device tree before anything starts.
#pragma once

#include "run/input.hpp"
#include "wire/stream_head.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::run {

/// Splits `arguments` at commas and checks each word: all, none, a node path, an alias, another
/// name that only one node has (which becomes the path), or BASE+SIZE; "!" before a word excludes.
/// Returns the words for the hypervisor (abi::chosen::trace). Throws Error (bad_input) that lists
/// the devices of `tree` if one is unknown.
std::vector<std::string> select_devices(const std::vector<std::string>& arguments,
                                        const Bytes& tree);

struct StackChoice {
    std::uint32_t size; ///< bytes of each stack
    std::vector<std::string> devices;
};

/// Reads "BYTES:NAME,NAME...", or only the names, each of one or several devices, or "all". Throws
/// Error (bad_input) like select_devices().
StackChoice choose_stacks(std::string_view text, const Bytes& tree);

/// The paths of all nodes with a `reg` that the CPU can address, in the order of the tree.
std::vector<std::string> device_paths(const Bytes& tree);

// Finds the devices of a board in its device tree, like the hypervisor.

/// Every `reg` entry below 4 GiB that the CPU can address, and the aliases; the rest of the head is
/// empty. For control::find_device().
wire::StreamHead tree_devices(const Bytes& tree);

} // namespace mmioscope::run
