// The symbols and the banner in a kernel image.
#pragma once

#include "symbols/symbols.hpp"
#include "symbols/unwind.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::symbols {

// Finds the offsets of task names in a kernel's image, where init_task is as before the first
// instruction.

/// Bytes from the start of task_struct.
struct TaskOffsets {
    std::uint32_t comm; ///< 16 characters
    std::uint32_t pid;  ///< tgid follows it

    bool operator==(const TaskOffsets&) const = default;
};

/// `image`: an uncompressed kernel. `canary`: it has one in each task (CONFIG_STACKPROTECTOR),
/// between tgid and the parent. Nothing if there is no consistent init_task.
std::optional<TaskOffsets> find_task_offsets(std::span<const std::byte> image, bool canary);

/// Whether a kernel with this banner ("Linux version ...") keeps the current task in TPIDRURO: 5.16
/// and later.
bool has_task_in_register(std::string_view banner);

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

// The instructions of a kernel's image, by their addresses.

class KernelText {
public:
    /// `memory`: the kernel as it lies in memory. Nothing in it says where that is; but most of its
    /// functions begin by saving registers.
    KernelText(std::vector<std::byte> memory, const SymbolList& symbols);

    /// The virtual address of its first byte; nothing: unknown.
    std::optional<std::uint32_t> base() const { return base_; }
    /// The ARM instruction at `address`, a multiple of 4; nothing: unknown.
    std::optional<std::uint32_t> word(std::uint32_t address) const;

private:
    std::vector<std::byte> memory_;
    std::optional<std::uint32_t> base_;
};

/// How the frames of its functions are undone; empty: not found.
UnwindTable frames_of(const KernelImage& kernel);

} // namespace mmioscope::symbols
