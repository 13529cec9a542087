// Section `tasks` of a trace file: which task of the guest's a record is of. Payload: TaskEntry[].
//
// Entries are in the order of time, over all such sections. One holds for records of its key from
// its time on, until the next one of that key. It stands in front of the first record it is for.
// The recorder looks a task up shortly after the record, not at it: a name that changed in between
// comes as many milliseconds early as the recorder was late.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"
#include "mmioscope/event.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
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

struct TaskEntry {
    std::uint64_t time; ///< as in records
    std::uint32_t key;
    TaskKey kind;
    std::uint32_t pid;
    std::uint32_t tgid;
    char comm[16]; ///< zero-terminated, or 16 characters
};
static_assert(sizeof(TaskEntry) == 40);

class TaskTable {
public:
    /// Takes one section.
    void add(std::span<const std::byte> payload);

    /// The task of `record`; null if it is not known. It stays where it is.
    const Task* of(const abi::Record& record) const;

private:
    struct Since {
        std::uint64_t time;
        const Task* task;
    };

    void add(const TaskEntry& entry);
    const Task* at(TaskKey kind, std::uint32_t key, std::uint64_t time) const;

    std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>, Task> tasks_;
    std::unordered_map<std::uint64_t, std::vector<Since>> by_key_;
    bool in_register_ = false; ///< there are entries of kind `task`
};

} // namespace mmioscope::trace
