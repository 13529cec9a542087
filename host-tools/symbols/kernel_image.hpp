// The symbols and the banner in a kernel image.
#pragma once

#include "symbols/symbols.hpp"
#include "symbols/task_offsets.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::symbols {

struct KernelImage {
    SymbolList symbols;
    std::string banner; ///< "Linux version ...", without line end; empty: not found
    /// For the task in TPIDRURO. Nothing: the kernel does not keep it there, or the offsets are
    /// unknown.
    std::optional<TaskOffsets> task_offsets;
    std::vector<std::byte> memory; ///< the kernel as it lies in memory before it runs
};

/// Reads a zImage, with its payload compressed as xz, lzma, gzip, lz4 or zstd, or the bytes of a
/// raw Image or of vmlinux. Throws Error (bad_input), without the file's name, if there are no
/// symbols.
KernelImage read_kernel_image(std::span<const std::byte> bytes);

// Decompresses data in the formats that a kernel's build uses.

enum class Packing { xz, lzma, gzip, lz4, zstd };

/// Decompresses the stream at the start of `bytes`: up to its end, to the first invalid byte, or to
/// `limit` bytes. Empty if nothing can be decompressed. Ignores what follows the stream.
std::vector<std::byte> expand(Packing packing, std::span<const std::byte> bytes, std::size_t limit);

} // namespace mmioscope::symbols
