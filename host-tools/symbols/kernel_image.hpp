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
    std::string banner; ///< "Linux version ...", without the line's end; empty: not found
    /// Of the task that TPIDRURO points to; nothing: it does not, or that is not known.
    std::optional<TaskOffsets> task_offsets;
};

/// Reads a zImage, with its payload compressed as xz, lzma, gzip, lz4 or zstd, or the bytes of a
/// raw Image or of vmlinux. Throws Error (bad_input), which does not name the file, if there are no
/// symbols.
KernelImage read_kernel_image(std::span<const std::byte> bytes);

} // namespace mmioscope::symbols
