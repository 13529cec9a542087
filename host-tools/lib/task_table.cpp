#include "lib/task_table.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

namespace {

constexpr std::uint64_t joined(TaskKey kind, std::uint32_t key) {
    return static_cast<std::uint64_t>(kind) << 32 | key;
}

// A process calls itself what it likes; what is printed is plain text.
std::string name_of(const TaskEntry& entry) {
    std::string name(entry.comm, ::strnlen(entry.comm, sizeof entry.comm));
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return name;
}

} // namespace

void TaskTable::add(std::span<const std::byte> payload) {
    for (; payload.size() >= sizeof(TaskEntry); payload = payload.subspan(sizeof(TaskEntry))) {
        TaskEntry entry;
        std::memcpy(&entry, payload.data(), sizeof entry);
        add(entry);
    }
}

void TaskTable::add(const TaskEntry& entry) {
    const std::string name = name_of(entry);
    const auto [task, fresh] = tasks_.try_emplace(std::tuple(entry.pid, entry.tgid, name));
    if (fresh) {
        task->second = {entry.pid, entry.tgid, name};
    }
    in_register_ = in_register_ || entry.kind == TaskKey::task;
    std::vector<Since>& known = by_key_[joined(entry.kind, entry.key)];
    // At the end, but in a file that does not keep to the order.
    const auto later = std::upper_bound(known.begin(), known.end(), entry.time,
                                        [](std::uint64_t t, const Since& s) { return t < s.time; });
    known.insert(later, {entry.time, &task->second});
}

const Task* TaskTable::of(const abi::Record& record) const {
    if (in_user_mode(record)) {
        return at(TaskKey::stack, stack_of(record.task), record.time);
    }
    return in_register_ ? at(TaskKey::task, record.task, record.time)
                        : at(TaskKey::stack, stack_of(record.sp), record.time);
}

const Task* TaskTable::at(TaskKey kind, std::uint32_t key, std::uint64_t time) const {
    const auto known = by_key_.find(joined(kind, key));
    if (known == by_key_.end()) {
        return nullptr;
    }
    const std::vector<Since>& since = known->second;
    const auto later = std::upper_bound(since.begin(), since.end(), time,
                                        [](std::uint64_t t, const Since& s) { return t < s.time; });
    return later == since.begin() ? nullptr : std::prev(later)->task;
}

} // namespace mmioscope::trace
