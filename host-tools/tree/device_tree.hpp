// Questions asked of a flattened device tree.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::tree {

/// True if `tree` is a whole, well-formed flattened device tree.
bool tree_is_sound(std::span<const std::byte> tree);

/// The tree that the file `path` holds. Throws Error (bad_input) that names it.
std::vector<std::byte> read_tree(const std::string& path);

/// The /aliases of `tree`: alias to node path. Empty if the tree is not sound.
std::map<std::string, std::string> aliases(std::span<const std::byte> tree);

} // namespace mmioscope::tree
