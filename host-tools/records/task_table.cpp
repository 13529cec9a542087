#include "records/task_table.hpp"

#include "abi/task_name.hpp"
#include "system/plain_text.hpp"

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

KnownTask known_task(std::uint32_t pid, std::uint32_t tgid, const std::string& comm) {
    KnownTask task{pid, tgid, {}};
    std::ranges::copy(comm, task.comm.begin());
    return task;
}

} // namespace

Task task_of(const KnownTask& known) {
    return {known.pid, known.tgid,
            std::string(known.comm.data(), ::strnlen(known.comm.data(), known.comm.size()))};
}

void TaskTable::add(std::span<const std::byte> payload) {
    for (; payload.size() >= sizeof(TaskEntry); payload = payload.subspan(sizeof(TaskEntry))) {
        TaskEntry entry;
        std::memcpy(&entry, payload.data(), sizeof entry);
        add(entry);
    }
}

void TaskTable::add(const TaskEntry& entry) {
    in_register_ = in_register_ || entry.kind == TaskKey::task;
    learn(entry.kind, entry.key, entry.time,
          known_task(entry.pid, entry.tgid, name_of(entry.comm)));
}

void TaskTable::add(const abi::Record& record) {
    const abi::TaskName name = abi::task_name(record);
    learn(TaskKey::record, record.task, record.time,
          known_task(name.pid, name.tgid, name_of(name.comm)));
}

// Records come in the order of time, and say the same again and again. What is earlier than the
// last, in a file that does not keep to the order, counts from there on.
void TaskTable::learn(TaskKey kind, std::uint32_t key, std::uint64_t time, const KnownTask& task) {
    const auto [known, fresh] =
        last_.try_emplace(joined(kind, key), Since{time, learnt_ + 1, task});
    Since& last = known->second;
    if (!fresh && last.task == task) {
        return;
    }
    ++learnt_;
    ++version_;
    if (!fresh) {
        replaced_[known->first].push_back({last.time, learnt_, last.task});
        last = {std::max(time, last.time), learnt_, task};
    }
    if (learnt_ - forgot_ >= most_replaced) {
        forget_replaced();
    }
    if (last_.size() > most_keys) {
        forget_keys();
    }
}

void TaskTable::forget_replaced() {
    forgot_ = learnt_;
    for (auto of_key = replaced_.begin(); of_key != replaced_.end();) {
        std::vector<Since>& all = of_key->second;
        const auto first = std::find_if(all.begin(), all.end(), [this](const Since& one) {
            return one.number + most_replaced > learnt_;
        });
        all = std::vector<Since>(first, all.end()); // the memory goes, too
        of_key = all.empty() ? replaced_.erase(of_key) : std::next(of_key);
    }
}

void TaskTable::forget_keys() {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(last_.size());
    for (const auto& [key, last] : last_) {
        numbers.push_back(last.number);
    }
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    std::erase_if(last_, [first = *middle](const auto& one) { return one.second.number < first; });
    std::erase_if(replaced_, [this](const auto& one) { return !last_.contains(one.first); });
}

TaskTable::Found TaskTable::find(const abi::Record& record) const {
    if (in_user_mode(record)) {
        return at(TaskKey::stack, stack_of(record.task), record.time);
    }
    const Found of_record = at(TaskKey::record, record.task, record.time);
    if (of_record.task != nullptr) {
        return of_record;
    }
    Found found = in_register_ ? at(TaskKey::task, record.task, record.time)
                               : at(TaskKey::stack, stack_of(record.sp), record.time);
    found.to = std::min(found.to, of_record.to); // the record's own word counts from there on
    return found;
}

std::optional<Task> TaskTable::of(const abi::Record& record) const {
    const Found found = find(record);
    return found.task == nullptr ? std::nullopt : std::optional(task_of(*found.task));
}

TaskTable::Found TaskTable::at(TaskKey kind, std::uint32_t key, std::uint64_t time) const {
    const auto last = last_.find(joined(kind, key));
    if (last == last_.end()) {
        return {};
    }
    if (time >= last->second.time) {
        return {&last->second.task, last->second.time};
    }
    Found found{nullptr, 0, last->second.time - 1};
    const auto replaced = replaced_.find(last->first);
    if (replaced == replaced_.end()) {
        return found;
    }
    const std::vector<Since>& all = replaced->second;
    const auto later = std::upper_bound(all.begin(), all.end(), time,
                                        [](std::uint64_t t, const Since& s) { return t < s.time; });
    if (later != all.begin()) {
        found.task = &std::prev(later)->task;
        found.from = std::prev(later)->time;
    }
    if (later != all.end()) {
        found.to = later->time - 1;
    }
    return found;
}

std::size_t TaskTable::bytes() const {
    constexpr std::size_t of_key = 32; // what a map and the heap take beside
    std::size_t bytes = last_.size() * (sizeof(Since) + of_key);
    for (const auto& [key, all] : replaced_) {
        bytes += sizeof all + of_key + all.capacity() * sizeof(Since);
    }
    return bytes;
}

std::string task_text(const abi::Record& record) {
    const abi::TaskName name = abi::task_name(record);
    return fmt::format("{:#010x} is {} (pid {}, process {})", record.task, name_of(name.comm),
                       name.pid, name.tgid);
}

} // namespace mmioscope::trace
