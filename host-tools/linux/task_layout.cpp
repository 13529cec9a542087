#include "linux/task_layout.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

namespace mmioscope::linux_guest {

namespace {

constexpr std::uint32_t most_distance = 4096;          ///< between two members
constexpr std::size_t witnesses = 8;                   ///< tasks that must agree on the stack
constexpr std::uint32_t stack_end_magic = 0x57ac'6e9d; // include/uapi/linux/magic.h

// The difference between virtual and physical addresses. It follows from the empty lists in
// init_task, whose heads point to themselves twice.
std::optional<std::uint32_t> linear_map(const PhysicalMemory& memory, std::uint64_t comm) {
    std::map<std::uint32_t, unsigned> votes;
    for (std::uint64_t at = comm - std::min<std::uint64_t>(comm, most_distance); at < comm;
         at += 4) {
        const std::optional<std::uint32_t> next = memory.word(at);
        const auto distance = next ? static_cast<std::uint32_t>(*next - at) : 1;
        if (next == memory.word(at + 4) && distance % (2u << 20) == 0) { // Linux's alignment
            ++votes[distance];
        }
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most != votes.end() && most->second >= 3 ? std::optional(most->first) : std::nullopt;
}

class Finder {
public:
    Finder(const AddressSpace& space, std::uint32_t comm, std::uint32_t linear, unsigned& steps)
        : space_(space), comm_(comm), linear_(linear), steps_(steps) {}

    std::optional<Kernel> kernel() {
        for (distance_ = 0; distance_ < most_distance && steps_ > 0; distance_ += 4) {
            if (find_members() && find_pid() && find_leader() && find_stack()) {
                find_thread_node();
                return Kernel{space_, layout_, comm_ - layout_.comm, linear_};
            }
        }
        return std::nullopt;
    }

private:
    bool has_name(std::uint32_t member) const {
        const auto name = space_.text(member + distance_, comm_size);
        return name && !name->empty();
    }

    // Finds the list whose head is `distance_` before the name, and whose members all have a name
    // there.
    bool find_members() {
        const std::uint32_t head = comm_ - distance_;
        members_.assign(1, head);
        std::optional<std::uint32_t> next = space_.word(head);
        while (next && *next != head && steps_ > 0) {
            --steps_;
            if (space_.word(*next + 4) != members_.back() || !has_name(*next)) {
                return false;
            }
            members_.push_back(*next);
            next = space_.word(*next);
        }
        return next == head && members_.size() >= 3;
    }

    template <typename Holds>
    bool all(std::size_t count, Holds holds) {
        count = std::min(count, members_.size());
        return std::all_of(
            members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(count),
            [&](std::uint32_t member) { return steps_ > 0 && (--steps_, holds(member)); });
    }

    // pid equals tgid in each process's first thread, and is known for the first three processes.
    bool find_pid() {
        for (from_member_ = 0u - most_distance; from_member_ != most_distance; from_member_ += 4) {
            std::uint32_t known = 0;
            const bool first = all(3, [&](std::uint32_t member) {
                return space_.word(member + from_member_) == known++;
            });
            if (first && all(members_.size(), [&](std::uint32_t member) {
                    return space_.word(member + from_member_) ==
                           space_.word(member + from_member_ + 4);
                })) {
                return true;
            }
        }
        return false;
    }

    // The first thread's pointer to itself, from which the start of task_struct follows.
    bool find_leader() {
        for (std::uint32_t behind = 8; behind < 128; behind += 4) {
            const std::optional<std::uint32_t> start =
                space_.word(members_[0] + from_member_ + behind);
            const std::uint32_t tasks = start ? members_[0] - *start : most_distance;
            if (tasks < most_distance && all(members_.size(), [&](std::uint32_t member) {
                    return space_.word(member + from_member_ + behind) == member - tasks;
                })) {
                layout_.tasks = tasks;
                layout_.pid = tasks + from_member_;
                layout_.leader = layout_.pid + behind;
                layout_.comm = tasks + distance_;
                return layout_.pid < most_distance;
            }
        }
        return false;
    }

    // The end of the stack has a magic word, or there is a thread_info that points back.
    bool find_stack() {
        for (layout_.stack = 0; layout_.stack < layout_.tasks; layout_.stack += 4) {
            for (const bool in_register : {true, false}) {
                layout_.current_in_register = in_register;
                if (all(witnesses, [&](std::uint32_t member) {
                        return has_stack(member - layout_.tasks, in_register);
                    })) {
                    return true;
                }
            }
        }
        return false;
    }

    bool has_stack(std::uint32_t task, bool in_register) const {
        const std::optional<std::uint32_t> stack = space_.word(task + layout_.stack);
        return stack && *stack % stack_size == 0 &&
               (in_register ? space_.word(*stack) == stack_end_magic
                            : space_.word(*stack + thread_info_task) == task);
    }

    // The first processes have one thread each: the list's head and the thread point to each other.
    void find_thread_node() {
        for (std::uint32_t node = layout_.leader + 4; node < layout_.leader + 128; node += 4) {
            if (all(3, [&](std::uint32_t member) {
                    const std::uint32_t at = member - layout_.tasks + node;
                    const std::optional<std::uint32_t> head = space_.word(at);
                    return head && *head != at && space_.word(at + 4) == head &&
                           space_.word(*head) == at && space_.word(*head + 4) == at;
                })) {
                layout_.thread_node = node;
                return;
            }
        }
    }

    AddressSpace space_;
    std::uint32_t comm_;
    std::uint32_t linear_;
    TaskLayout layout_{};
    std::uint32_t distance_ = 0;    ///< from the list member to comm
    std::uint32_t from_member_ = 0; ///< to pid, modulo 2^32
    std::vector<std::uint32_t> members_;
    unsigned& steps_; ///< left
};

} // namespace

std::optional<Kernel> find_kernel(const PhysicalMemory& memory, std::uint64_t limit,
                                  std::uint64_t comm, unsigned& steps) {
    const std::optional<std::uint32_t> distance = linear_map(memory, comm);
    if (!distance) {
        return std::nullopt;
    }
    const std::uint32_t name = static_cast<std::uint32_t>(comm) + *distance;
    steps -= std::min(steps, static_cast<unsigned>(limit / AddressSpace::page)); // worst case
    const std::optional<AddressSpace> space = AddressSpace::find(memory, limit, name, comm);
    const std::uint32_t linear = static_cast<std::uint32_t>(memory.base()) + *distance;
    return space ? Finder(*space, name, linear, steps).kernel() : std::nullopt;
}

} // namespace mmioscope::linux_guest
