// Decompresses data in the formats that a kernel's build uses.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mmioscope::symbols {

enum class Packing { xz, lzma, gzip, lz4, zstd };

/// Decompresses the stream at the start of `bytes`: up to its end, to the first invalid byte, or to
/// `limit` bytes. Empty if nothing can be decompressed. Ignores what follows the stream.
std::vector<std::byte> expand(Packing packing, std::span<const std::byte> bytes, std::size_t limit);

/// Compresses with zstd at a high level, for data that is written once.
std::vector<std::byte> compress(std::span<const std::byte> bytes);

} // namespace mmioscope::symbols
