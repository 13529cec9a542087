#include "records/task_table.hpp"

#include "abi/task_name.hpp"
#include "system/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

namespace mmioscope::trace {

namespace {

static_assert(std::endian::native == std::endian::little);

// Eight characters, all zero from the first zero on.
constexpr std::uint64_t ended(std::uint64_t text) {
    constexpr std::uint64_t ones = 0x0101'0101'0101'0101, tops = ones << 7;
    const std::uint64_t zeros = (text - ones) & ~text & tops; // its lowest bit is right
    return text & (((zeros & -zeros) >> 7) - 1);
}

// A process may choose any name. Each entry makes one: without a branch for each letter.
[[gnu::always_inline]] inline KnownTask known_task(std::uint32_t pid, std::uint32_t tgid,
                                                   const char (&comm)[16]) {
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), comm, sizeof comm);
    halves[0] = ended(halves[0]);
    halves[1] = halves[0] >> 56 == 0 ? 0 : ended(halves[1]);
    KnownTask task{pid, tgid, {}};
    std::memcpy(task.comm.data(), halves.data(), sizeof comm);
    for (char& c : task.comm) {
        c = is_plain(c) || c == '\0' ? c : '?';
    }
    return task;
}

} // namespace

Task task_of(const KnownTask& known) {
    return {known.pid, known.tgid,
            std::string(known.comm.data(), ::strnlen(known.comm.data(), known.comm.size()))};
}

// Keys that were not used for long make room.
void TaskTable::begin() {
    if (std::exchange(passed_records_, false) && last_.size() > most_keys) {
        forget_keys(most_keys / 2);
    }
}

// The slot of a key, or the free one for it: the next free slot from its hash on.
inline std::size_t TaskTable::slot_of(Key key) const {
    std::size_t slot = (key * 0x9e37'79b9'7f4a'7c15) >> 32;
    do {
        slot = (slot + 1) & (slots_.size() - 1);
    } while (slots_[slot] != 0 && key_of(last_[slots_[slot] - 1u]) != key);
    return slot;
}

// Records are in the order of time, and often repeat what is known. If a file violates the order,
// an earlier time counts as the latest one.
[[gnu::always_inline]] inline void TaskTable::learn(TaskKey kind, std::uint32_t key,
                                                    std::uint64_t time, const KnownTask& task) {
    ++entries_;
    std::uint16_t& place = slots_[slot_of(joined(kind, key))];
    if (place != 0) {
        Last& last = last_[place - 1u];
        last.entry = entries_ & entry_bits;
        if (last.task == task) {
            return;
        }
        replaced_[joined(kind, key)].push_back({last.time, learnt_ + 1, last.task});
        last.time = std::max(time, last.time);
        last.task = task;
    } else {
        last_.push_back(Last{time, key, kind, entries_ & entry_bits, task});
        place = static_cast<std::uint16_t>(last_.size());
        if (last_.size() > most_replaced) {
            forget_keys(most_replaced / 2);
        } else if (16 * last_.size() > 9 * slots_.size()) { // 8,192 slots hold 4,608 keys
            place_all();
        }
    }
    ++learnt_;
    ++version_;
    if (learnt_ - forgot_ >= most_replaced) {
        forget_replaced();
    }
}

void TaskTable::add(std::span<const std::byte> payload) {
    begin();
    for (; payload.size() >= sizeof(TaskEntry); payload = payload.subspan(sizeof(TaskEntry))) {
        TaskEntry entry;
        std::memcpy(&entry, payload.data(), sizeof entry);
        if (entry.kind <= TaskKey::record) { // else from a newer program
            in_register_ = in_register_ || entry.kind == TaskKey::task;
            learn(entry.kind, entry.key, entry.time, known_task(entry.pid, entry.tgid, entry.comm));
        }
    }
}

void TaskTable::add(const abi::Record& record) {
    begin();
    const abi::TaskName name = abi::task_name(record);
    learn(TaskKey::record, record.task, record.time, known_task(name.pid, name.tgid, name.comm));
}

void TaskTable::forget_replaced() {
    forgot_ = learnt_;
    for (auto of_key = replaced_.begin(); of_key != replaced_.end();) {
        std::vector<Since>& all = of_key->second;
        const auto first = std::find_if(all.begin(), all.end(), [this](const Since& one) {
            return one.number + most_replaced > learnt_;
        });
        all = std::vector<Since>(first, all.end()); // frees the memory
        of_key = all.empty() ? replaced_.erase(of_key) : std::next(of_key);
    }
}

void TaskTable::forget_keys(std::size_t keep) {
    ++version_;
    const auto first = last_.end() - static_cast<std::ptrdiff_t>(keep);
    std::ranges::nth_element(last_, first, std::greater(), [this](const Last& last) {
        return (entries_ - last.entry) & entry_bits; // number of entries since then
    });
    last_.erase(last_.begin(), first);
    place_all();
    std::erase_if(replaced_, [this](const auto& one) { return slots_[slot_of(one.first)] == 0; });
}

// Never fewer slots than before: there will be as many keys again.
void TaskTable::place_all() {
    slots_.assign(std::max(slots_.size(), std::bit_ceil(2 * last_.size())), 0);
    last_.reserve(slots_.size() * 9 / 16); // as many as they hold: then it grows as they do
    for (std::size_t i = 0; i < last_.size(); ++i) {
        slots_[slot_of(key_of(last_[i]))] = static_cast<std::uint16_t>(i + 1);
    }
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
    found.to = std::min(found.to, of_record.to); // from there on the record's own entry counts
    return found;
}

std::optional<Task> TaskTable::of(const abi::Record& record) const {
    const Found found = find(record);
    return found.task == nullptr ? std::nullopt : std::optional(task_of(*found.task));
}

TaskTable::Found TaskTable::at(TaskKey kind, std::uint32_t key, std::uint64_t time) const {
    const std::uint16_t place = slots_[slot_of(joined(kind, key))];
    if (place == 0) {
        return {};
    }
    const Last& last = last_[place - 1u];
    if (time >= last.time) {
        return {&last.task, last.time};
    }
    Found found{nullptr, 0, last.time - 1};
    const auto replaced = replaced_.find(joined(kind, key));
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

std::vector<std::string> TaskTable::names() const {
    std::set<std::string> names;
    for (const Last& last : last_) {
        names.insert(task_of(last.task).comm);
    }
    for (const auto& [key, before] : replaced_) {
        for (const Since& since : before) {
            names.insert(task_of(since.task).comm);
        }
    }
    return {names.begin(), names.end()};
}

std::size_t TaskTable::bytes() const {
    constexpr std::size_t of_key = 32; // overhead of a map node on the heap
    std::size_t bytes = last_.size() * sizeof(Last) + slots_.size() * sizeof slots_[0];
    for (const auto& [key, all] : replaced_) {
        bytes += sizeof all + of_key + all.capacity() * sizeof(Since);
    }
    return bytes;
}

std::string task_text(const abi::Record& record) {
    const abi::TaskName name = abi::task_name(record);
    return fmt::format("{:#010x} is {} (pid {}, process {})", record.task,
                       task_of(known_task(name.pid, name.tgid, name.comm)).comm, name.pid,
                       name.tgid);
}

} // namespace mmioscope::trace
