// RAM as a kernel leaves it: page tables of either format, tasks in lists. The test chooses the
// layout of task_struct.
#pragma once

#include "linux/address_space.hpp"
#include "linux/task_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace mmioscope::test {

class FakeKernel {
public:
    using Format = linux_guest::AddressSpace::Format;

    static constexpr std::uint64_t ram = 0x8000'0000;
    static constexpr std::uint32_t linear = 0xc000'0000;  ///< where RAM is mapped
    static constexpr std::uint32_t modules = 0xbf00'0000; ///< 64 pages, from modules_at on
    static constexpr std::uint32_t modules_at = 0x30'0000;
    static constexpr std::uint32_t task_size = 0x800;

    struct Offsets {
        std::uint32_t stack, tasks, pid, leader, comm, node;
    };

    explicit FakeKernel(Format format = Format::short_descriptors,
                        Offsets offsets = {0x20, 0x200, 0x290, 0x2b4, 0x3e0, 0x2f4},
                        bool in_register = true)
        : bytes(std::size_t{4} << 20), at(offsets), in_register_(in_register) {
        format == Format::short_descriptors ? map_short() : map_long();
        add(0, "swapper/0");
        for (const std::uint32_t head : {0x100u, 0x108u, 0x310u}) { // empty lists
            set(tasks[0] + head, tasks[0] + head);
            set(tasks[0] + head + 4, tasks[0] + head);
        }
    }

    /// Adds three more tasks, so that the kernel is found.
    void boot() {
        add(1, "init");
        add(2, "kthreadd");
        add(3, "rcu_gp");
    }

    /// Adds a process of one thread at the end of the list. Returns its task_struct.
    std::uint32_t add(std::uint32_t pid, const std::string& comm) {
        const std::uint32_t task = make(pid, pid, comm);
        const std::uint32_t head = tasks.empty() ? task : tasks[0];
        set(task + at.leader, task);
        link(task + at.tasks, head + at.tasks);
        const std::uint32_t signal = task + task_size - 16; // head of its list of threads
        set(signal, signal);
        set(signal + 4, signal);
        link(task + at.node, signal);
        tasks.push_back(task);
        return task;
    }

    /// Adds another thread of `leader`.
    std::uint32_t add_thread(std::uint32_t leader, std::uint32_t pid, const std::string& comm) {
        const std::uint32_t task = make(pid, word(leader + at.pid + 4), comm);
        set(task + at.leader, leader);
        link(task + at.node, leader + task_size - 16);
        return task;
    }

    void rename(std::uint32_t task, const std::string& comm) {
        for (std::uint32_t i = 0; i < 16; i += 4) {
            std::uint32_t four = 0;
            if (i < comm.size()) {
                std::memcpy(&four, comm.data() + i, std::min<std::size_t>(4, comm.size() - i));
            }
            set(task + at.comm + i, four);
        }
    }

    std::uint32_t stack(std::uint32_t task) const { return word(task + at.stack); }

    void set(std::uint32_t address, std::uint32_t value) {
        std::memcpy(&bytes.at(offset(address)), &value, sizeof value);
    }
    std::uint32_t word(std::uint32_t address) const {
        std::uint32_t value;
        std::memcpy(&value, &bytes.at(offset(address)), sizeof value);
        return value;
    }

    linux_guest::PhysicalMemory memory() const { return {bytes, ram}; }

    std::vector<std::byte> bytes;
    Offsets at;
    std::vector<std::uint32_t> tasks; ///< processes; the first one is init_task

private:
    static std::size_t offset(std::uint32_t address) {
        return address < linear ? address - modules + modules_at : address - linear;
    }

    std::uint32_t make(std::uint32_t pid, std::uint32_t tgid, const std::string& comm) {
        const std::uint32_t task = linear + next_task_, stack = linear + next_stack_;
        next_task_ += task_size;
        next_stack_ += linux_guest::stack_size;
        set(task + at.stack, stack);
        set(in_register_ ? stack : stack + linux_guest::thread_info_task,
            in_register_ ? 0x57ac'6e9d : task);
        set(task + at.pid, pid);
        set(task + at.pid + 4, tgid);
        rename(task, comm);
        return task;
    }

    // Before `head`, or alone if that is the same.
    void link(std::uint32_t node, std::uint32_t head) {
        const std::uint32_t last = node == head ? node : word(head + 4);
        set(node, head);
        set(node + 4, last);
        set(last, node);
        set(head + 4, node);
    }

    template <typename T>
    void entry(std::uint64_t table, std::uint32_t index, T value) {
        std::memcpy(&bytes.at(table + index * sizeof(T)), &value, sizeof value);
    }
    void map_short() {
        for (std::uint32_t i = 0; i < 4; ++i) {
            entry<std::uint32_t>(0x4000, (linear >> 20) + i,
                                 static_cast<std::uint32_t>(ram) + (i << 20) + 2);
        }
        entry<std::uint32_t>(0x4000, modules >> 20, static_cast<std::uint32_t>(ram) + 0x9000 + 1);
        for (std::uint32_t i = 0; i < 64; ++i) {
            entry<std::uint32_t>(0x9000, i,
                                 static_cast<std::uint32_t>(ram) + modules_at + i * 0x1000 + 2);
        }
    }
    void map_long() {
        entry<std::uint64_t>(0x3000, 3, ram + 0x7000 + 3);
        entry<std::uint64_t>(0x3000, 2, ram + 0x6000 + 3);
        for (std::uint32_t i = 0; i < 2; ++i) {
            entry<std::uint64_t>(0x7000, i, ram + (i << 21) + 1);
        }
        entry<std::uint64_t>(0x6000, (modules >> 21) & 0x1ff, ram + 0x9000 + 3);
        for (std::uint32_t i = 0; i < 64; ++i) {
            entry<std::uint64_t>(0x9000, i, ram + modules_at + i * 0x1000 + 3);
        }
    }

    bool in_register_;
    std::uint32_t next_task_ = 0x2'0000;
    std::uint32_t next_stack_ = 0x10'0000;
};

} // namespace mmioscope::test
