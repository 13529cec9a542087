#include "linux/task_watch.hpp"

#include "abi/ring.hpp"

#include <algorithm>
#include <array>

namespace mmioscope::linux_guest {

namespace {

constexpr std::size_t most_keys = 1 << 16; ///< keys are the guest's, and may be anything
/// Who is not found is looked for among all tasks: that is done less often.
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

void TaskWatch::see(std::span<const abi::Record> records, std::vector<trace::TaskEntry>& entries) {
    unsigned walks = most_walks;
    std::array<Recent, abi::max_cpus> recent{};
    for (const abi::Record& record : records) {
        const Key key = key_of(record);
        auto& [last, at] = recent[record.cpu % recent.size()];
        if (at == nullptr || last != key) {
            last = key;
            at = &known_[key];
        }
        Known& known = *at;
        if (record.time < known.look_at) {
            continue;
        }
        if (!takes_walk(key, known)) {
            look(key, known, record.time, entries);
        } else if (walks > 0) {
            --walks;
            look(key, known, record.time, entries);
        }
    }
    if (known_.size() > most_keys) {
        known_.clear(); // what is needed is told once more
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
    if (!known.told || last.pid != task->pid || last.tgid != task->tgid ||
        last.comm != task->comm) {
        entries.push_back(entry_of(key.key, key.kind, time, *task));
        // A process may do its access in User mode and end before it can be looked for by its
        // stack.
        const auto stack = key.kind == trace::TaskKey::task ? reader_.stack(key.key) : std::nullopt;
        if (stack) {
            entries.push_back(entry_of(*stack, trace::TaskKey::stack, time, *task));
        }
        known.last = *task;
        known.told = true;
    }
}

// Stacks change hands, too.
bool TaskWatch::is_strange(const Key& key, const Known& known) const {
    return key.kind == trace::TaskKey::stack &&
           (known.task == 0 || !reader_.has_stack(known.task, key.key));
}

bool TaskWatch::takes_walk(const Key& key, const Known& known) const {
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

} // namespace mmioscope::linux_guest
