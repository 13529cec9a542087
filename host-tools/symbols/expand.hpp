// Decompresses data in the formats that a kernel's build uses.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mmioscope::symbols {

enum class Packing { xz, lzma, gzip, lz4, zstd };

/// What `bytes` begin with, expanded: up to the end of the compressed stream, to the first byte
/// that cannot be right, or to `limit` bytes. Empty if nothing can be expanded. What follows the
/// stream does not matter.
std::vector<std::byte> expand(Packing packing, std::span<const std::byte> bytes, std::size_t limit);

/// As zstd, as small as it can: for what is written once.
std::vector<std::byte> compress(std::span<const std::byte> bytes);

} // namespace mmioscope::symbols
