#include "linux/task_reader.hpp"

namespace mmioscope::linux_guest {

namespace {

constexpr std::uint32_t most_pids = 1u << 22; // PID_MAX_LIMIT is half of that on 32 bits
constexpr unsigned most_steps = 1u << 16;     ///< a list may be hostile, or change while it is read

} // namespace

bool TaskReader::sound() const {
    const TaskLayout& at = kernel_.layout;
    const std::uint32_t head = kernel_.init_task + at.tasks;
    const std::optional<std::uint32_t> first = kernel_.space.word(head);
    return first && kernel_.space.word(*first + 4) == head &&
           kernel_.space.text(kernel_.init_task + at.comm, comm_size) == "swapper/0";
}

std::optional<Task> TaskReader::task(std::uint32_t task) const {
    const TaskLayout& at = kernel_.layout;
    const auto word = [this](std::uint32_t address) { return kernel_.space.word(address); };
    const std::optional<std::uint32_t> pid = word(task + at.pid), tgid = word(task + at.pid + 4),
                                       leader = word(task + at.leader);
    if (!pid || !tgid || !leader || *pid >= most_pids) {
        return std::nullopt;
    }
    if (*leader != task &&
        (word(*leader + at.leader) != leader || word(*leader + at.pid + 4) != tgid)) {
        return std::nullopt;
    }
    const std::optional<std::string> comm = kernel_.space.text(task + at.comm, comm_size);
    return comm ? std::optional(Task{*pid, *tgid, *comm}) : std::nullopt;
}

std::optional<std::uint32_t> TaskReader::stack(std::uint32_t task) const {
    const std::optional<std::uint32_t> stack = kernel_.space.word(task + kernel_.layout.stack);
    return stack && *stack % stack_size == 0 ? stack : std::nullopt;
}

std::optional<std::uint32_t> TaskReader::with_stack(std::uint32_t stack) const {
    const TaskLayout& at = kernel_.layout;
    if (!at.current_in_register) {
        const std::optional<std::uint32_t> task = kernel_.space.word(stack + thread_info_task);
        return task && has_stack(*task, stack) ? task : std::nullopt;
    }
    const std::uint32_t head = kernel_.init_task + at.tasks;
    unsigned steps = 0;
    for (std::optional<std::uint32_t> next = kernel_.space.word(head);
         next && *next != head && steps < most_steps; next = kernel_.space.word(*next), ++steps) {
        const std::uint32_t task = *next - at.tasks;
        if (has_stack(task, stack)) {
            return task;
        }
        if (const std::optional<std::uint32_t> thread = thread_with_stack(task, stack, steps)) {
            return thread;
        }
    }
    return std::nullopt;
}

bool TaskReader::has_stack(std::uint32_t task, std::uint32_t stack) const {
    return kernel_.space.word(task + kernel_.layout.stack) == stack;
}

// The list's head is not inside a task, and does not have such a stack.
std::optional<std::uint32_t>
TaskReader::thread_with_stack(std::uint32_t leader, std::uint32_t stack, unsigned& steps) const {
    const TaskLayout& at = kernel_.layout;
    if (!at.thread_node) {
        return std::nullopt;
    }
    const std::uint32_t first = leader + *at.thread_node;
    for (std::optional<std::uint32_t> next = kernel_.space.word(first);
         next && *next != first && steps < most_steps; next = kernel_.space.word(*next), ++steps) {
        const std::uint32_t task = *next - *at.thread_node;
        if (has_stack(task, stack) && kernel_.space.word(task + at.leader) == leader) {
            return task;
        }
    }
    return std::nullopt;
}

} // namespace mmioscope::linux_guest
