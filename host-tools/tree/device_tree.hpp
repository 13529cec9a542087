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

// Names files that people have at hand, but that no command reads as they are.

/// What a file with this beginning is, and the command that makes something useful of it, as the
/// end of a sentence: "an Android boot image: `unpack_bootimg ...`". `bytes`: all, or at least the
/// first 4096. Empty: not known, and no such file.
std::string known_file(std::span<const std::byte> bytes);

/// ": it is " and known_file(), or `otherwise`.
std::string known_or(std::span<const std::byte> bytes, const std::string& otherwise);

/// What a sound device tree is that describes no board, and the command: a FIT image, an overlay.
/// Empty: it describes one.
std::string known_tree(std::span<const std::byte> tree);

} // namespace mmioscope::tree
