// Which task of the guest's a record is of: by section `tasks` of a trace file, and by records of
// type `task`, which the hypervisor has made at the access. From such a record on
// nothing else counts of that task.
//
// Section `tasks`: payload TaskEntry[].
//
// Entries are in the order of time, over all such sections; one that is earlier than the last one
// of its key counts as late as that. One holds for records of its key from its time on, until the
// next one of that key. It stands in front of the first record it is for. The recorder looks a task
// up shortly after the record, not at it: a name that changed in between comes as many milliseconds
// early as the recorder was late.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"
#include "lib/caller_table.hpp"
#include "mmioscope/event.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace mmioscope::trace {

inline constexpr abi::SectionType tasks_section{13};

/// What TaskEntry::key is.
enum class TaskKey : std::uint32_t {
    task = 0,  ///< the current task, as in Record::task while the kernel runs (5.16 and later)
    stack = 1, ///< lowest address of the kernel stack: of Record::task in User mode, of
               ///< Record::sp in kernels that do not have the task in a register
};

/// Of a stack pointer. Stacks are aligned to their 8 KiB; an empty one has 8 bytes left at its top.
constexpr std::uint32_t stack_of(std::uint32_t stack_pointer) {
    return stack_pointer & ~0x1fffu;
}

/// The guest was in User mode.
constexpr bool in_user_mode(const abi::Record& record) {
    return (record.mode & 0x1f) == 0x10;
}

/// Whether Record::task can be the address of the guest's current task: in User mode it is that of
/// a stack, kernels before 5.16 have a thread's own data there, and before the first task it is
/// whatever was there. The kernel's data lie in the same part of the addresses as its stacks, by 1
/// GiB.
constexpr bool may_be_task(const abi::Record& record) {
    constexpr std::uint32_t alignment = 8; // of all that Linux allocates
    constexpr std::uint32_t part = 0xc000'0000;
    return in_kernel(record) && record.task != 0 && record.task % alignment == 0 &&
           record.task >= (record.sp & part);
}

struct TaskEntry {
    std::uint64_t time; ///< as in records
    std::uint32_t key;
    TaskKey kind;
    std::uint32_t pid;
    std::uint32_t tgid;
    char comm[16]; ///< zero-terminated, or 16 characters
};
static_assert(sizeof(TaskEntry) == 40);

/// What a record of type `task` says, as a line.
std::string task_text(const abi::Record& record);

class TaskTable {
public:
    /// Takes one section.
    void add(std::span<const std::byte> payload);

    /// Takes a record of type `task`.
    void add(const abi::Record& record);

    /// The task of a record, and the times for which it is the same, as far as is known now.
    struct Found {
        const Task* task = nullptr; ///< null: not known. It stays where it is
        std::uint64_t from = 0;
        std::uint64_t to = UINT64_MAX; ///< it may be another one behind this
    };
    Found find(const abi::Record& record) const;
    const Task* of(const abi::Record& record) const { return find(record).task; }

    /// Grows with what is known.
    std::uint32_t version() const { return version_; }

    /// What is known at some point of a trace.
    struct Mark {
        std::size_t learnt = 0;
        bool in_register = false;
    };
    Mark mark() const { return {order_.size(), in_register_}; }
    /// Forgets what was learnt behind `mark`. Tasks stay where they are.
    void go_back(const Mark& mark);

private:
    struct Since {
        std::uint64_t time;
        const Task* task;
    };

    using Known = std::vector<Since>; ///< in the order of time

    void add(const TaskEntry& entry);
    void learn(Known& known, std::uint64_t time, const Task* task);
    const Task* task_of(std::uint32_t pid, std::uint32_t tgid, std::string_view comm);
    Found at(TaskKey kind, std::uint32_t key, std::uint64_t time) const;
    static Found at(const Known& known, std::uint64_t time);

    std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>, Task> tasks_;
    std::unordered_map<std::uint64_t, Known> by_key_;
    std::unordered_map<std::uint32_t, Known> by_record_; ///< by Record::task
    std::vector<Known*> order_; ///< each time something was learnt, of what: elements stay there
    bool in_register_ = false;  ///< there are entries of kind `task`
    std::uint32_t version_ = 1;
};

} // namespace mmioscope::trace
