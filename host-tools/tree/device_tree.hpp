// Queries on a flattened device tree.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::tree {

/// Whether `tree` is a complete, well-formed flattened device tree.
bool tree_is_sound(std::span<const std::byte> tree);

/// Reads the tree in the file `path`. Throws Error (bad_input) that names it.
std::vector<std::byte> read_tree(const std::string& path);

/// Limit: each device is looked for among all aliases.
inline constexpr std::size_t most_aliases = 1024;
using Aliases = std::map<std::string, std::string>; ///< to node paths

/// The /aliases of `tree`. Empty if the tree is invalid.
Aliases aliases(std::span<const std::byte> tree);

} // namespace mmioscope::tree
