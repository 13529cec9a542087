// Where a task's names are (mmioscope,task-names).
#pragma once

#include "dt/tree.hpp"

namespace mmioscope {

/// Where the guest's kernel keeps a task's names: offsets in bytes from the task's address.
struct TaskOffsets {
    std::uint32_t comm; ///< 16 characters; 0: no names
    std::uint32_t pid;  ///< tgid follows
};

/// Reads mmioscope,task-names.
BootError read_task_offsets(const Tree& tree, TaskOffsets& offsets);

} // namespace mmioscope
