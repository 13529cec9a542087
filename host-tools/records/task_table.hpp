// Finds the guest's task for each record, from section `tasks` of a trace file and from records of
// type `task`, which the hypervisor made at the access. From such a record on, nothing else counts
// for that task.
//
// Section `tasks`: payload TaskEntry[].
//
// Entries are in the order of time, over all such sections; one that is earlier than the last entry
// of its key counts as having that time. An entry applies to records of its key from its time on,
// until the next entry of that key. It precedes the first record that it applies to. The recorder
// looks a task up shortly after the record, not at it: a name that changed in between appears too
// early, by as many milliseconds as the recorder was late.
//
// Packing and `export --as mmio` move entries to before records that they do not apply to, of one
// section at most. Therefore an entry stays known after another one of its key has replaced it,
// until TaskTable::most_replaced entries with something new have followed.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"
#include "mmioscope/event.hpp"
#include "records/callers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace mmioscope::trace {

inline constexpr abi::SectionType tasks_section{13};

/// The meaning of TaskEntry::key.
enum class TaskKey : std::uint32_t {
    task = 0,   ///< the current task, like Record::task while the kernel runs (5.16 and later)
    stack = 1,  ///< lowest address of the kernel stack: from Record::task in User mode, from
                ///< Record::sp in kernels without the task in a register
    record = 2, ///< Record::task of a record of type `task` that is not in this file, which is a
                ///< part of another one: has the effect of that record
};

/// The stack of a stack pointer. Stacks are aligned to 8 KiB; an empty one has 8 bytes left at its
/// top.
constexpr std::uint32_t stack_of(std::uint32_t stack_pointer) {
    return stack_pointer & ~0x1fffu;
}

/// Whether the guest was in User mode.
constexpr bool in_user_mode(const abi::Record& record) {
    return (record.mode & 0x1f) == 0x10;
}

/// Whether Record::task can be the address of the guest's current task. It is not in User mode
/// (that is a stack), in kernels before 5.16 (a thread's own data), and before the first task (any
/// value). The kernel's data and its stacks are in the same part of the address space, within 1
/// GiB.
constexpr bool may_be_task(const abi::Record& record) {
    constexpr std::uint32_t alignment = 8; // of everything that Linux allocates
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

/// A record of type `task` as a line.
std::string task_text(const abi::Record& record);

/// What a trace says about a task.
struct KnownTask {
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;
    std::array<char, 16> comm{}; ///< plain text, padded with zeros

    bool operator==(const KnownTask&) const = default;
};
Task task_of(const KnownTask& known);

/// The content depends only on the entries so far and their order, not on which records were read:
/// after a seek it is the same as after reading everything. Memory is bounded for any trace; a copy
/// takes as much.
class TaskTable {
public:
    /// With more keys, forgets the oldest entries until half as many are left. Does so at the first
    /// entry after records, because the entries before records may be for each of them. The
    /// recorder writes a key in use again before readers forget it (linux/task_layout.cpp).
    static constexpr std::size_t most_keys = 4'096;
    /// A section has at most 16,384 records, and the recorder writes at most two entries for each.
    static constexpr std::size_t most_replaced = 32'768; ///< also limits the keys at any time

    /// Takes one section.
    void add(std::span<const std::byte> payload);

    /// Takes a record of type `task`.
    void add(const abi::Record& record);

    /// A block of records was read or skipped: further entries belong to later records.
    void pass_records() { passed_records_ = true; }

    /// The task of a record, and the times for which the result is the same, as far as known.
    struct Found {
        const KnownTask* task = nullptr; ///< null: unknown. Valid until the next add()
        std::uint64_t from = 0;
        std::uint64_t to = UINT64_MAX; ///< may differ after this
    };
    Found find(const abi::Record& record) const;
    std::optional<Task> of(const abi::Record& record) const;

    /// Grows with the content.
    std::uint32_t version() const { return version_; }

    /// The names of the tasks known now, each once.
    std::vector<std::string> names() const;

    std::size_t bytes() const; ///< approximate memory

private:
    using Key = std::uint64_t; ///< kind and key
    struct Since {
        std::uint64_t time;
        std::uint64_t number; ///< number, among all learnt, of its replacement
        KnownTask task;
    };
    struct Last {
        std::uint64_t time;
        std::uint32_t key;
        TaskKey kind : 2;
        std::uint32_t entry : 30; ///< number of its last entry in entries_
        KnownTask task;
    };
    static constexpr std::uint32_t entry_bits = ~std::uint32_t{0} >> 2;
    static Key key_of(const Last& last) { return joined(last.kind, last.key); }
    static constexpr Key joined(TaskKey kind, std::uint32_t key) {
        return static_cast<std::uint64_t>(kind) << 32 | key;
    }

    void begin();
    void learn(TaskKey kind, std::uint32_t key, std::uint64_t time, const KnownTask& task);
    void forget_replaced();
    void forget_keys(std::size_t keep);
    Found at(TaskKey kind, std::uint32_t key, std::uint64_t time) const;
    std::size_t slot_of(Key key) const;
    void place_all();

    std::vector<Last> last_; ///< one for each key; a map's nodes would take 50 % more
    std::vector<std::uint16_t> slots_ =
        std::vector<std::uint16_t>(16); ///< a power of two; index in last_, plus 1
    static_assert(most_replaced < UINT16_MAX);
    std::unordered_map<Key, std::vector<Since>> replaced_; ///< in the order of time
    std::uint32_t entries_ = 0;                            ///< number of entries
    std::uint64_t learnt_ = 0;                             ///< number of those with something new
    std::uint64_t forgot_ = 0; ///< value of learnt_ at the last removal of a replaced one
    bool passed_records_ = false;
    bool in_register_ = false; ///< there are entries of kind `task`
    std::uint32_t version_ = 1;
};

} // namespace mmioscope::trace
