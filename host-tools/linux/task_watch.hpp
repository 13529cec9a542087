// Reports the names of tasks during a recording: task_structs are reused, and names change.
#pragma once

#include "abi/record.hpp"
#include "linux/task_layout.hpp"
#include "mmioscope/event.hpp"
#include "records/runs.hpp"
#include "records/task_table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mmioscope::linux_guest {

// Reads the tasks of a running kernel at the addresses in records.

class TaskReader {
public:
    explicit TaskReader(const Kernel& kernel) : kernel_(kernel) {}

    /// Whether the kernel is still there: after a reset, RAM may have another one.
    bool sound() const;

    bool current_in_register() const { return kernel_.layout.current_in_register; }

    /// The task whose task_struct is at `task`; nothing if there is none.
    std::optional<Task> task(std::uint32_t task) const;

    /// Lowest address of the kernel stack of the task at `task`.
    std::optional<std::uint32_t> stack(std::uint32_t task) const;

    /// Address of the task_struct whose kernel stack begins at `stack`.
    std::optional<std::uint32_t> with_stack(std::uint32_t stack) const;

    /// Whether the kernel stack of `task` begins at `stack`.
    bool has_stack(std::uint32_t task, std::uint32_t stack) const;

private:
    std::optional<std::uint32_t> thread_with_stack(std::uint32_t leader, std::uint32_t stack,
                                                   unsigned& steps) const;

    Kernel kernel_;
};

class TaskWatch {
public:
    /// `frequency` is that of the records' times, in Hz.
    TaskWatch(const Kernel& kernel, std::uint32_t frequency);

    /// Whether the kernel is still there.
    bool sound() const { return reader_.sound(); }

    /// Reads the tasks of `runs`, each of one task, in the order of time: those not read for a
    /// millisecond of the guest's time. Appends to `entries` what is new or changed. Searches all
    /// tasks for at most `most_walks` of them; the others must wait for their next records.
    void see(std::span<const trace::Run> runs, std::vector<trace::TaskEntry>& entries);

private:
    struct Key {
        trace::TaskKey kind;
        std::uint32_t key;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return key.key * 2u + static_cast<std::uint32_t>(key.kind);
        }
    };
    struct Known {
        std::uint64_t look_at = 0; ///< read it again from this time on
        std::uint32_t task = 0;
        Task last;
        bool reported = false; ///< `last` was reported
    };
    /// The task of a CPU's last record, and probably of the next one.
    struct Recent {
        Key key;
        Known* known;
    };

    void see_key(std::span<const abi::Record> records, std::span<Recent> recent, unsigned& walks,
                 std::vector<trace::TaskEntry>& entries);
    Key key_of(const abi::Record& record) const;
    void look(const Key& key, Known& known, std::uint64_t time,
              std::vector<trace::TaskEntry>& entries);
    std::optional<Task> read(const Key& key, Known& known) const;
    /// Whether the owner of the stack is unknown, or may have changed.
    bool is_strange(const Key& key, const Known& known) const;
    /// Whether finding the owner requires a search of all tasks.
    bool needs_walk(const Key& key, const Known& known) const;

    /// Limits the work: a list of tasks may have 65,536 members, and each record another stack
    /// pointer.
    static constexpr unsigned most_walks = 16;

    TaskReader reader_;
    std::uint64_t interval_;
    std::unordered_map<Key, Known, Hash> known_;
};

} // namespace mmioscope::linux_guest
