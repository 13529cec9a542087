#include "lib/task_table.hpp"

#include "abi/task_name.hpp"
#include "lib/plain_text.hpp"
#include "lib/said_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

namespace {

constexpr std::uint64_t joined(TaskKey kind, std::uint32_t key) {
    return static_cast<std::uint64_t>(kind) << 32 | key;
}

// A process calls itself what it likes.
template <std::size_t N>
std::string name_of(const char (&comm)[N]) {
    return printable({comm, ::strnlen(comm, N)});
}

} // namespace

void TaskTable::add(std::span<const std::byte> payload) {
    for (; payload.size() >= sizeof(TaskEntry); payload = payload.subspan(sizeof(TaskEntry))) {
        TaskEntry entry;
        std::memcpy(&entry, payload.data(), sizeof entry);
        add(entry);
    }
}

const Task* TaskTable::task_of(std::uint32_t pid, std::uint32_t tgid, std::string_view comm) {
    const auto [task, fresh] = tasks_.try_emplace(std::tuple(pid, tgid, std::string(comm)));
    if (fresh) {
        task->second = {pid, tgid, std::string(comm)};
    }
    return &task->second;
}

void TaskTable::add(const TaskEntry& entry) {
    const Task* const task = task_of(entry.pid, entry.tgid, name_of(entry.comm));
    in_register_ = in_register_ || entry.kind == TaskKey::task;
    learn(entry.kind == said_task ? by_record_[entry.key] : by_key_[joined(entry.kind, entry.key)],
          entry.time, task);
}

// Records come in the order of time, and say the same again and again. What is earlier than the
// last, in a file that does not keep to the order, counts from there on.
void TaskTable::learn(Known& known, std::uint64_t time, const Task* task) {
    if (known.empty() || known.back().task != task) {
        known.push_back({known.empty() ? time : std::max(time, known.back().time), task});
        order_.push_back(&known);
        ++version_;
    }
}

void TaskTable::go_back(const Mark& mark) {
    for (; order_.size() > mark.learnt; order_.pop_back()) {
        order_.back()->pop_back();
    }
    in_register_ = mark.in_register;
    ++version_;
}

void TaskTable::add(const abi::Record& record) {
    const abi::TaskName name = abi::task_name(record);
    const Task* const task = task_of(name.pid, name.tgid, name_of(name.comm));
    learn(by_record_[record.task], record.time, task);
}

TaskTable::Found TaskTable::find(const abi::Record& record) const {
    if (in_user_mode(record)) {
        return at(TaskKey::stack, stack_of(record.task), record.time);
    }
    Found said;
    if (const auto known = by_record_.find(record.task); known != by_record_.end()) {
        said = at(known->second, record.time);
    }
    if (said.task != nullptr) {
        return said;
    }
    Found found = in_register_ ? at(TaskKey::task, record.task, record.time)
                               : at(TaskKey::stack, stack_of(record.sp), record.time);
    found.to = std::min(found.to, said.to); // the record's own word counts from there on
    return found;
}

TaskTable::Found TaskTable::at(TaskKey kind, std::uint32_t key, std::uint64_t time) const {
    const auto known = by_key_.find(joined(kind, key));
    return known == by_key_.end() ? Found() : at(known->second, time);
}

TaskTable::Found TaskTable::at(const Known& known, std::uint64_t time) {
    const auto later = std::upper_bound(known.begin(), known.end(), time,
                                        [](std::uint64_t t, const Since& s) { return t < s.time; });
    Found found;
    if (later != known.begin()) {
        found.task = std::prev(later)->task;
        found.from = std::prev(later)->time;
    }
    if (later != known.end()) {
        found.to = later->time - 1;
    }
    return found;
}

std::string task_text(const abi::Record& record) {
    const abi::TaskName name = abi::task_name(record);
    return fmt::format("{:#010x} is {} (pid {}, process {})", record.task, name_of(name.comm),
                       name.pid, name.tgid);
}

} // namespace mmioscope::trace
