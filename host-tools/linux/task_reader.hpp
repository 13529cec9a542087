// Reads the tasks of a running kernel at the addresses in records.
#pragma once

#include "linux/task_layout.hpp"
#include "mmioscope/event.hpp"

#include <cstdint>
#include <optional>

namespace mmioscope::linux_guest {

class TaskReader {
public:
    explicit TaskReader(const Kernel& kernel) : kernel_(kernel) {}

    /// Whether the kernel is still there: after a reset, RAM may have another one.
    bool sound() const;

    bool current_in_register() const { return kernel_.layout.current_in_register; }

    /// The task whose task_struct is at `task`; nothing if there is none.
    std::optional<Task> task(std::uint32_t task) const;

    /// Lowest address of the kernel stack of the task at `task`.
    std::optional<std::uint32_t> stack(std::uint32_t task) const;

    /// Address of the task_struct whose kernel stack begins at `stack`.
    std::optional<std::uint32_t> with_stack(std::uint32_t stack) const;

    /// Whether the kernel stack of `task` begins at `stack`.
    bool has_stack(std::uint32_t task, std::uint32_t stack) const;

private:
    std::optional<std::uint32_t> thread_with_stack(std::uint32_t leader, std::uint32_t stack,
                                                   unsigned& steps) const;

    Kernel kernel_;
};

} // namespace mmioscope::linux_guest
