#include "linux/task_layout.hpp"

#include "abi/ring.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <cwchar>
#include <map>

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

namespace {

using namespace std::chrono_literals;

constexpr char init_comm[] = "swapper/0"; // with its zero byte
constexpr std::size_t piece = 1 << 20;
/// The start of RAM, where boot loaders put kernels and where kernels put themselves.
constexpr std::size_t searched = 64 << 20;
constexpr std::size_t most_names = 64;
constexpr std::chrono::milliseconds longest_pause = 1s;
constexpr unsigned steps_of_pass = 1u << 18; ///< tens of milliseconds

} // namespace

std::optional<Kernel> KernelFinder::pass(Clock::time_point now) {
    if (now < not_before_) {
        return std::nullopt;
    }
    scan(next_, piece);
    next_ += piece;
    not_before_ = now + 1ms;
    if (next_ >= std::min(searched, memory_.bytes().size())) {
        next_ = 0;
        not_before_ = now + pause_;
        pause_ = std::min(2 * pause_, longest_pause);
    }
    return candidates();
}

std::optional<Kernel> KernelFinder::find() {
    names_.clear();
    scan(0, searched);
    for (const std::uint64_t at : names_) {
        unsigned steps = steps_of_pass;
        if (std::optional<Kernel> kernel = find_kernel(memory_, searched, at, steps)) {
            return kernel;
        }
    }
    return std::nullopt;
}

// Tries names found before again, too: the name is there before the other tasks are. Each pass
// begins with another one, so that a name that uses all steps does not block the others.
std::optional<Kernel> KernelFinder::candidates() {
    unsigned steps = steps_of_pass;
    ++turn_;
    for (std::size_t i = 0; i < names_.size() && steps > 0; ++i) {
        const std::uint64_t at = names_[(turn_ + i) % names_.size()];
        if (std::optional<Kernel> kernel = find_kernel(memory_, searched, at, steps)) {
            return kernel;
        }
    }
    return std::nullopt;
}

// wmemchr() looks at many words at a time, and names are aligned as their tasks are.
void KernelFinder::scan(std::size_t from, std::size_t size) {
    static_assert(sizeof(wchar_t) == 4 && piece % sizeof(wchar_t) == 0);
    wchar_t first; // "swap"
    std::memcpy(&first, init_comm, sizeof first);
    const std::span<const std::byte> bytes = memory_.bytes();
    const auto* const words = reinterpret_cast<const wchar_t*>(bytes.data());
    const wchar_t* at = words + std::min(bytes.size(), from) / sizeof first;
    const wchar_t* const end = words + std::min(bytes.size(), from + size) / sizeof first;
    while ((at = std::wmemchr(at, first, static_cast<std::size_t>(end - at))) != nullptr) {
        const auto place = static_cast<std::size_t>(at++ - words) * sizeof first;
        if (bytes.size() - place >= sizeof init_comm &&
            std::memcmp(&bytes[place], init_comm, sizeof init_comm) == 0) {
            add_name(memory_.base() + place);
        }
    }
}

void KernelFinder::add_name(std::uint64_t at) {
    if (std::ranges::find(names_, at) == names_.end()) {
        if (names_.size() == most_names) {
            names_.erase(names_.begin());
        }
        names_.push_back(at);
    }
}

namespace {

/// Keys come from the guest, and may be anything. The recorder writes keys in use again before a
/// reader forgets them.
constexpr std::size_t most_keys = trace::TaskTable::most_keys / 2;
/// A task that is not found requires a search of all tasks, so look less often.
constexpr std::uint64_t patience = 50;

trace::TaskEntry entry_of(std::uint32_t key, trace::TaskKey kind, std::uint64_t time,
                          const Task& task) {
    trace::TaskEntry entry{time, key, kind, task.pid, task.tgid, {}};
    std::copy_n(task.comm.data(), std::min(task.comm.size(), sizeof entry.comm), entry.comm);
    return entry;
}

} // namespace

TaskWatch::TaskWatch(const Kernel& kernel, std::uint32_t frequency)
    : reader_(kernel), interval_(frequency / 1000) {}

void TaskWatch::see(std::span<const trace::Run> runs, std::vector<trace::TaskEntry>& entries) {
    unsigned walks = most_walks;
    std::array<Recent, abi::max_cpus> recent{};
    for (const trace::Run& run : runs) {
        if (run.first->type == abi::RecordType::payload) { // has no task
            continue;
        }
        if (reader_.current_in_register() || trace::in_user_mode(*run.first)) {
            see_key(run.records(), recent, walks, entries);
            continue;
        }
        for (const abi::Record& record : run.records()) { // each may be on another stack
            see_key({&record, 1}, recent, walks, entries);
        }
    }
    if (known_.size() > most_keys) {
        known_.clear();
    }
}

// `records` have one key, and their times do not decrease.
void TaskWatch::see_key(std::span<const abi::Record> records, std::span<Recent> recent,
                        unsigned& walks, std::vector<trace::TaskEntry>& entries) {
    const Key key = key_of(records.front());
    auto& [last, its] = recent[records.front().cpu % recent.size()];
    if (its == nullptr || last != key) {
        last = key;
        its = &known_[key];
    }
    Known& known = *its;
    while (!records.empty() && records.back().time >= known.look_at) {
        const auto at = std::ranges::lower_bound(records, known.look_at, {}, &abi::Record::time);
        const unsigned walk = needs_walk(key, known) ? 1 : 0;
        if (walk > walks) {
            return;
        }
        walks -= walk;
        look(key, known, at->time, entries);
        records = {at + 1, records.end()};
    }
}

TaskWatch::Key TaskWatch::key_of(const abi::Record& record) const {
    if (trace::in_user_mode(record)) {
        return {trace::TaskKey::stack, trace::stack_of(record.task)};
    }
    if (reader_.current_in_register()) {
        return {trace::TaskKey::task, record.task};
    }
    return {trace::TaskKey::stack, trace::stack_of(record.sp)};
}

void TaskWatch::look(const Key& key, Known& known, std::uint64_t time,
                     std::vector<trace::TaskEntry>& entries) {
    const std::optional<Task> task = read(key, known);
    known.look_at = time + interval_ * (task ? 1 : patience);
    if (!task) {
        return;
    }
    const Task& last = known.last;
    if (!known.reported || last.pid != task->pid || last.tgid != task->tgid ||
        last.comm != task->comm) {
        entries.push_back(entry_of(key.key, key.kind, time, *task));
        // A process may make its access in User mode and end before it can be found by its stack.
        const auto stack = key.kind == trace::TaskKey::task ? reader_.stack(key.key) : std::nullopt;
        if (stack) {
            entries.push_back(entry_of(*stack, trace::TaskKey::stack, time, *task));
        }
        known.last = *task;
        known.reported = true;
    }
}

// Stacks get new owners, too.
bool TaskWatch::is_strange(const Key& key, const Known& known) const {
    return key.kind == trace::TaskKey::stack &&
           (known.task == 0 || !reader_.has_stack(known.task, key.key));
}

bool TaskWatch::needs_walk(const Key& key, const Known& known) const {
    return reader_.current_in_register() && is_strange(key, known);
}

std::optional<Task> TaskWatch::read(const Key& key, Known& known) const {
    if (key.kind == trace::TaskKey::task) {
        return reader_.task(key.key);
    }
    if (is_strange(key, known)) {
        known.task = reader_.with_stack(key.key).value_or(0);
    }
    return known.task != 0 ? reader_.task(known.task) : std::nullopt;
}

namespace {

constexpr std::uint32_t most_pids = 1u << 22; // PID_MAX_LIMIT is half of that on 32 bits
constexpr unsigned most_steps = 1u << 16;     ///< a list may be hostile, or change while it is read

} // namespace

bool TaskReader::sound() const {
    const TaskLayout& at = kernel_.layout;
    const std::uint32_t head = kernel_.init_task + at.tasks;
    const std::optional<std::uint32_t> first = kernel_.space.word(head);
    return first && kernel_.space.word(*first + 4) == head &&
           kernel_.space.text(kernel_.init_task + at.comm, comm_size) == "swapper/0";
}

std::optional<Task> TaskReader::task(std::uint32_t task) const {
    const TaskLayout& at = kernel_.layout;
    const auto word = [this](std::uint32_t address) { return kernel_.space.word(address); };
    const std::optional<std::uint32_t> pid = word(task + at.pid), tgid = word(task + at.pid + 4),
                                       leader = word(task + at.leader);
    if (!pid || !tgid || !leader || *pid >= most_pids) {
        return std::nullopt;
    }
    if (*leader != task &&
        (word(*leader + at.leader) != leader || word(*leader + at.pid + 4) != tgid)) {
        return std::nullopt;
    }
    const std::optional<std::string> comm = kernel_.space.text(task + at.comm, comm_size);
    return comm ? std::optional(Task{*pid, *tgid, *comm}) : std::nullopt;
}

std::optional<std::uint32_t> TaskReader::stack(std::uint32_t task) const {
    const std::optional<std::uint32_t> stack = kernel_.space.word(task + kernel_.layout.stack);
    return stack && *stack % stack_size == 0 ? stack : std::nullopt;
}

std::optional<std::uint32_t> TaskReader::with_stack(std::uint32_t stack) const {
    const TaskLayout& at = kernel_.layout;
    if (!at.current_in_register) {
        const std::optional<std::uint32_t> task = kernel_.space.word(stack + thread_info_task);
        return task && has_stack(*task, stack) ? task : std::nullopt;
    }
    const std::uint32_t head = kernel_.init_task + at.tasks;
    unsigned steps = 0;
    for (std::optional<std::uint32_t> next = kernel_.space.word(head);
         next && *next != head && steps < most_steps; next = kernel_.space.word(*next), ++steps) {
        const std::uint32_t task = *next - at.tasks;
        if (has_stack(task, stack)) {
            return task;
        }
        if (const std::optional<std::uint32_t> thread = thread_with_stack(task, stack, steps)) {
            return thread;
        }
    }
    return std::nullopt;
}

bool TaskReader::has_stack(std::uint32_t task, std::uint32_t stack) const {
    return kernel_.space.word(task + kernel_.layout.stack) == stack;
}

// The list's head is not inside a task, and does not have such a stack.
std::optional<std::uint32_t>
TaskReader::thread_with_stack(std::uint32_t leader, std::uint32_t stack, unsigned& steps) const {
    const TaskLayout& at = kernel_.layout;
    if (!at.thread_node) {
        return std::nullopt;
    }
    const std::uint32_t first = leader + *at.thread_node;
    for (std::optional<std::uint32_t> next = kernel_.space.word(first);
         next && *next != first && steps < most_steps; next = kernel_.space.word(*next), ++steps) {
        const std::uint32_t task = *next - *at.thread_node;
        if (has_stack(task, stack) && kernel_.space.word(task + at.leader) == leader) {
            return task;
        }
    }
    return std::nullopt;
}

} // namespace mmioscope::linux_guest
