// Names files that people have at hand, but that no command reads as they are.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mmioscope::tree {

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
