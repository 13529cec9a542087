// Offsets of the members of the kernel's task_struct that are read. They depend on version and
// configuration, so they are found by what must hold for any offsets: the list of all processes
// begins and ends at init_task, which is called swapper/0, and its first members have the pids 0, 1
// and 2.
#pragma once

#include "linux/address_space.hpp"

#include <cstdint>
#include <optional>

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

} // namespace mmioscope::linux_guest
