// Questions asked of a flattened device tree.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace mmioscope::trace {

/// True if `tree` is a whole, well-formed flattened device tree.
bool tree_is_sound(std::span<const std::byte> tree);

/// The /aliases of `tree`: alias to node path. Empty if the tree is not sound.
std::map<std::string, std::string> aliases(std::span<const std::byte> tree);

} // namespace mmioscope::trace
