#include "linux/task_watch.hpp"

#include "abi/ring.hpp"

#include <algorithm>
#include <array>

namespace mmioscope::linux_guest {

namespace {

/// Keys come from the guest, and may be anything. The recorder writes keys in use again before a
/// reader forgets them.
constexpr std::size_t most_keys = trace::TaskTable::most_keys / 2;
/// A task that is not found requires a search of all tasks, so look less often.
constexpr std::uint64_t patience = 50;

trace::TaskEntry entry_of(std::uint32_t key, trace::TaskKey kind, std::uint64_t time,
                          const Task& task) {
    trace::TaskEntry entry{time, key, kind, task.pid, task.tgid, {}};
    std::copy_n(task.comm.data(), std::min(task.comm.size(), sizeof entry.comm), entry.comm);
    return entry;
}

} // namespace

TaskWatch::TaskWatch(const Kernel& kernel, std::uint32_t frequency)
    : reader_(kernel), interval_(frequency / 1000) {}

void TaskWatch::see(std::span<const trace::Run> runs, std::vector<trace::TaskEntry>& entries) {
    unsigned walks = most_walks;
    std::array<Recent, abi::max_cpus> recent{};
    for (const trace::Run& run : runs) {
        if (run.first->type == abi::RecordType::payload) { // has no task
            continue;
        }
        if (reader_.current_in_register() || trace::in_user_mode(*run.first)) {
            see_key(run.records(), recent, walks, entries);
            continue;
        }
        for (const abi::Record& record : run.records()) { // each may be on another stack
            see_key({&record, 1}, recent, walks, entries);
        }
    }
    if (known_.size() > most_keys) {
        known_.clear();
    }
}

// `records` have one key, and their times do not decrease.
void TaskWatch::see_key(std::span<const abi::Record> records, std::span<Recent> recent,
                        unsigned& walks, std::vector<trace::TaskEntry>& entries) {
    const Key key = key_of(records.front());
    auto& [last, its] = recent[records.front().cpu % recent.size()];
    if (its == nullptr || last != key) {
        last = key;
        its = &known_[key];
    }
    Known& known = *its;
    while (!records.empty() && records.back().time >= known.look_at) {
        const auto at = std::ranges::lower_bound(records, known.look_at, {}, &abi::Record::time);
        const unsigned walk = needs_walk(key, known) ? 1 : 0;
        if (walk > walks) {
            return;
        }
        walks -= walk;
        look(key, known, at->time, entries);
        records = {at + 1, records.end()};
    }
}

TaskWatch::Key TaskWatch::key_of(const abi::Record& record) const {
    if (trace::in_user_mode(record)) {
        return {trace::TaskKey::stack, trace::stack_of(record.task)};
    }
    if (reader_.current_in_register()) {
        return {trace::TaskKey::task, record.task};
    }
    return {trace::TaskKey::stack, trace::stack_of(record.sp)};
}

void TaskWatch::look(const Key& key, Known& known, std::uint64_t time,
                     std::vector<trace::TaskEntry>& entries) {
    const std::optional<Task> task = read(key, known);
    known.look_at = time + interval_ * (task ? 1 : patience);
    if (!task) {
        return;
    }
    const Task& last = known.last;
    if (!known.reported || last.pid != task->pid || last.tgid != task->tgid ||
        last.comm != task->comm) {
        entries.push_back(entry_of(key.key, key.kind, time, *task));
        // A process may make its access in User mode and end before it can be found by its stack.
        const auto stack = key.kind == trace::TaskKey::task ? reader_.stack(key.key) : std::nullopt;
        if (stack) {
            entries.push_back(entry_of(*stack, trace::TaskKey::stack, time, *task));
        }
        known.last = *task;
        known.reported = true;
    }
}

// Stacks get new owners, too.
bool TaskWatch::is_strange(const Key& key, const Known& known) const {
    return key.kind == trace::TaskKey::stack &&
           (known.task == 0 || !reader_.has_stack(known.task, key.key));
}

bool TaskWatch::needs_walk(const Key& key, const Known& known) const {
    return reader_.current_in_register() && is_strange(key, known);
}

std::optional<Task> TaskWatch::read(const Key& key, Known& known) const {
    if (key.kind == trace::TaskKey::task) {
        return reader_.task(key.key);
    }
    if (is_strange(key, known)) {
        known.task = reader_.with_stack(key.key).value_or(0);
    }
    return known.task != 0 ? reader_.task(known.task) : std::nullopt;
}

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
