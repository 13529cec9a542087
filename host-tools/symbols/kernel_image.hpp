// The symbols and the banner in a kernel image.
#pragma once

#include "symbols/symbol.hpp"
#include "symbols/task_offsets.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace mmioscope::symbols {

struct KernelImage {
    SymbolList symbols;
    std::string banner; ///< "Linux version ...", without line end; empty: not found
    /// For the task in TPIDRURO. Nothing: the kernel does not keep it there, or the offsets are
    /// unknown.
    std::optional<TaskOffsets> task_offsets;
};

/// Reads a zImage, with its payload compressed as xz, lzma, gzip, lz4 or zstd, or the bytes of a
/// raw Image or of vmlinux. Throws Error (bad_input), without the file's name, if there are no
/// symbols.
KernelImage read_kernel_image(std::span<const std::byte> bytes);

} // namespace mmioscope::symbols
