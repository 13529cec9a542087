// Finds the offsets of task names in a kernel's image, where init_task is as before the first
// instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mmioscope::symbols {

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

} // namespace mmioscope::symbols
