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
//
// Packing and `export --as mmio` move entries in front of records that they are not for, of one
// section at most. So what another entry of its key has taken the place of is still known while at
// least TaskTable::most_replaced entries that tell something new follow, and no longer.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"
#include "mmioscope/event.hpp"
#include "records/callers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace mmioscope::trace {

inline constexpr abi::SectionType tasks_section{13};

/// What TaskEntry::key is.
enum class TaskKey : std::uint32_t {
    task = 0,   ///< the current task, as in Record::task while the kernel runs (5.16 and later)
    stack = 1,  ///< lowest address of the kernel stack: of Record::task in User mode, of
                ///< Record::sp in kernels that do not have the task in a register
    record = 2, ///< Record::task of a record of type `task` that is none of this file's, which is a
                ///< part of another one: counts as that record would
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

/// What a trace has told of a task.
struct KnownTask {
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;
    std::array<char, 16> comm{}; ///< plain text, with zeros behind it

    bool operator==(const KnownTask&) const = default;
};
Task task_of(const KnownTask& known);

/// What is known at some point of a trace depends on what was told in front of it, and in which
/// order, but not on which records were read: so who goes to a place finds what who has read all
/// finds. Memory is bounded, whatever a trace tells. A copy takes as much.
class TaskTable {
public:
    /// Of more keys all but half as many are forgotten, those that were not told of for longest:
    /// when the first entry behind records comes, as those in front of records may be of each of
    /// them. The recorder tells a key anew before it is forgotten (linux/task_watch.cpp).
    static constexpr std::size_t most_keys = 8'192;
    /// A section has 16,384 records at most, and the recorder two entries for each at most.
    static constexpr std::size_t most_replaced = 32'768; ///< and no more keys at any time

    /// Takes one section.
    void add(std::span<const std::byte> payload);

    /// Takes a record of type `task`.
    void add(const abi::Record& record);

    /// A block of records came, or was left out: what is told from now on is of later ones.
    void pass_records() { passed_records_ = true; }

    /// The task of a record, and the times for which it is the same, as far as is known now.
    struct Found {
        const KnownTask* task = nullptr; ///< null: not known. It holds until something is added
        std::uint64_t from = 0;
        std::uint64_t to = UINT64_MAX; ///< it may be another one behind this
    };
    Found find(const abi::Record& record) const;
    std::optional<Task> of(const abi::Record& record) const;

    /// Grows with what is known.
    std::uint32_t version() const { return version_; }

    /// What the tasks are called that are known now, each name once.
    std::vector<std::string> names() const;

    std::size_t bytes() const; ///< of memory, about

private:
    using Key = std::uint64_t; ///< kind and key
    struct Since {
        std::uint64_t time;
        std::uint64_t number; ///< of all that was learnt: what has taken its place
        KnownTask task;
    };
    struct Last {
        std::uint64_t time;
        std::uint32_t key;
        TaskKey kind : 2;
        std::uint32_t entry : 30; ///< the number of its last one, in entries_
        KnownTask task;
    };
    static constexpr std::uint32_t entry_bits = ~std::uint32_t{0} >> 2;
    static Key key_of(const Last& last) { return joined(last.kind, last.key); }
    static constexpr Key joined(TaskKey kind, std::uint32_t key) {
        return static_cast<std::uint64_t>(kind) << 32 | key;
    }

    void add(const TaskEntry& entry);
    void learn(TaskKey kind, std::uint32_t key, std::uint64_t time, const KnownTask& task);
    void forget_replaced();
    void forget_keys(std::size_t keep);
    Found at(TaskKey kind, std::uint32_t key, std::uint64_t time) const;
    std::size_t slot_of(Key key) const;
    void place_all();

    std::deque<Last> last_; ///< one of each key; a map's nodes would take half as much again
    std::vector<std::uint16_t> slots_ =
        std::vector<std::uint16_t>(16); ///< a power of two; where in last_, plus 1
    static_assert(most_replaced < UINT16_MAX);
    std::unordered_map<Key, std::vector<Since>> replaced_; ///< in the order of time
    std::uint32_t entries_ = 0;                            ///< so many came
    std::uint64_t learnt_ = 0; ///< those of them that told something new
    std::uint64_t forgot_ = 0; ///< learnt_ when something replaced was forgotten last
    bool passed_records_ = false;
    bool in_register_ = false; ///< there are entries of kind `task`
    std::uint32_t version_ = 1;
};

} // namespace mmioscope::trace
