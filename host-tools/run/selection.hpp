// Checks --trace against the device tree before anything is started.
#pragma once

#include "run/input.hpp"

#include <string>
#include <vector>

namespace mmioscope::run {

/// Splits `arguments` at commas and checks each word: all, none, a node path, an alias, another
/// name that only one node has (which becomes the path), or BASE+SIZE; "!" in front excludes.
/// Returns the words the hypervisor is to be given (abi::chosen::trace). Throws Error (bad_input)
/// that lists the devices of `tree` if one is not known.
std::vector<std::string> select_devices(const std::vector<std::string>& arguments,
                                        const Bytes& tree);

/// The paths of all nodes whose `reg` is an address of the CPU's, in the order of the tree.
std::vector<std::string> device_paths(const Bytes& tree);

} // namespace mmioscope::run
