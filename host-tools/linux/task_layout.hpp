// Offsets of the members of the kernel's task_struct that are read. They depend on version and
// configuration, so they are found by what must hold for any offsets: the list of all processes
// begins and ends at init_task, which is called swapper/0, and its first members have the pids 0, 1
// and 2.
#pragma once

#include "abi/record.hpp"
#include "linux/address_space.hpp"
#include "mmioscope/event.hpp"
#include "records/runs.hpp"
#include "records/task_table.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mmioscope::linux_guest {

inline constexpr std::uint32_t comm_size = 16; ///< bytes of a task's name (TASK_COMM_LEN)

/// Size and alignment of a task's kernel stack, in bytes (arch/arm, 4 KiB pages).
inline constexpr std::uint32_t stack_size = 0x2000;

/// Offsets in task_struct, in bytes.
struct TaskLayout {
    std::uint32_t tasks;  ///< list of all processes' first threads
    std::uint32_t pid;    ///< tgid follows it
    std::uint32_t leader; ///< first thread of the process
    std::uint32_t comm;
    std::uint32_t stack;                      ///< lowest address of the kernel stack
    std::optional<std::uint32_t> thread_node; ///< list of the process's threads
    /// TPIDRURO has the current task while the kernel runs, and thread_info is part of the task
    /// (since 5.16). Otherwise thread_info is at the lowest address of the stack.
    bool current_in_register;
};

/// Offset of the pointer to the task, in a thread_info at the stack's lowest address.
inline constexpr std::uint32_t thread_info_task = 12;

/// A kernel that is running or was.
struct Kernel {
    AddressSpace space;
    TaskLayout layout;
    std::uint32_t init_task;
    std::uint32_t linear; ///< where RAM's first byte is mapped (PAGE_OFFSET)
};

/// Finds the kernel from `comm`, the physical address of a "swapper/0". Nothing if that is not
/// init_task's, or if there are no other tasks yet. Searches only the first `limit` bytes of RAM
/// for page tables. Subtracts its comparisons from `steps`, and finds nothing once these are used
/// up: lists may be hostile, and the caller has rings to empty.
std::optional<Kernel> find_kernel(const PhysicalMemory& memory, std::uint64_t limit,
                                  std::uint64_t comm, unsigned& steps);

// Searches RAM for a kernel piece by piece, so that a running recording never waits long.

class KernelFinder {
public:
    using Clock = std::chrono::steady_clock;

    explicit KernelFinder(const PhysicalMemory& memory) : memory_(memory) {}

    /// Searches the next piece if it is due. After each full turn without success the pause before
    /// the next one grows, up to a second.
    std::optional<Kernel> pass(Clock::time_point now);

    /// Searches all RAM at once.
    std::optional<Kernel> find();

private:
    std::optional<Kernel> candidates();
    void scan(std::size_t from, std::size_t size);
    void add_name(std::uint64_t at);

    PhysicalMemory memory_;
    std::size_t next_ = 0;
    Clock::time_point not_before_{};
    std::chrono::milliseconds pause_{10};
    std::vector<std::uint64_t> names_; ///< where this turn and the previous one found "swapper/0"
    std::size_t turn_ = 0;             ///< passes, modulo its range
};

// Reports the names of tasks during a recording: task_structs are reused, and names change.

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
