// Offsets of the names of tasks in a kernel, found in its image: init_task is there as it is before
// the first instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mmioscope::symbols {

/// Bytes from the beginning of a task_struct.
struct TaskOffsets {
    std::uint32_t comm; ///< 16 characters
    std::uint32_t pid;  ///< tgid is behind it

    bool operator==(const TaskOffsets&) const = default;
};

/// `image`: a kernel, expanded. `canary`: it has one for each task (CONFIG_STACKPROTECTOR), between
/// tgid and the parent. Nothing if there is no init_task that holds together.
std::optional<TaskOffsets> find_task_offsets(std::span<const std::byte> image, bool canary);

/// Whether a kernel of that banner ("Linux version ...") keeps the current task in TPIDRURO: 5.16
/// and later.
bool has_task_in_register(std::string_view banner);

} // namespace mmioscope::symbols
