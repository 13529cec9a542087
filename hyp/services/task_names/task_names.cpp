#include "task_names/task_names.hpp"

#include "arch/psr.hpp"
#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "port/sysreg.hpp"
#include "start/setup.hpp"
#include "trap/translate.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mmioscope {

namespace {

constexpr std::uint32_t pid_limit = 4u << 20; ///< the largest PID_MAX_LIMIT of Linux
constexpr unsigned looks_per_second = 1000;

/// Reads words of the guest's RAM at `va`, a multiple of 4, through its own translation.
bool read_words(const Frame& frame, const Machine& machine, VirtualAddress va,
                std::span<std::uint32_t> to) {
    while (!to.empty()) {
        const auto on_page = static_cast<std::size_t>(page_size - va.value % page_size) / 4;
        const auto part = to.first(std::min(to.size(), on_page));
        const auto pa = translate(frame, va);
        if (!pa || !read_guest_memory(machine, *pa, part)) return false;
        va = va + static_cast<std::uint32_t>(part.size_bytes());
        to = to.subspan(part.size());
    }
    return true;
}

/// Reads what the guest's memory says about `task`. It may say anything; what cannot be a task is
/// rejected.
bool read_name(const Frame& frame, const Machine& machine, const TaskOffsets& at,
               std::uint32_t task, abi::TaskName& name) {
    std::uint32_t ids[2];
    std::uint32_t comm[sizeof name.comm / 4];
    if (task % 4 != 0 || !read_words(frame, machine, {task + at.pid}, ids) ||
        !read_words(frame, machine, {task + at.comm}, comm))
        return false;
    name.pid = ids[0];
    name.tgid = ids[1];
    std::memcpy(name.comm, comm, sizeof comm);
    return name.pid < pid_limit && name.tgid < pid_limit && name.comm[15] == '\0';
}

bool same(const abi::TaskName& a, const abi::TaskName& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

void publish(Cpu& cpu, std::uint32_t task, const abi::TaskName& name) {
    abi::Record record{};
    record.type = abi::RecordType::task;
    record.device = abi::no_device;
    record.task = task;
    abi::set_task_name(record, name);
    cpu.ring.publish_event(record);
}

/// A name never takes the room of an access; it is written later then.
bool has_room(Cpu& cpu, const DeviceAccess& access) {
    return cpu.ring.has_room(room_needed(cpu, access) + 1);
}

} // namespace

BootError TaskNames::configure(Machine& machine, Setup& setup) {
    if (auto e = read_task_offsets(setup.tree, offsets_)) return e;
    if (offsets_.comm != 0) next_ = std::exchange(machine.devices, this);
    return {};
}

/// Kept out of the code that each access executes.
[[gnu::noinline]] void TaskNames::look(Cpu& cpu, const Frame& frame, const DeviceAccess& access,
                                       std::uint32_t task, std::uint64_t now) {
    SaidTask& place = said_[cpu.number].place_of(task);
    const std::uint32_t second = port::read<reg::CNTFRQ>();
    // The boot loader has set no frequency: no way to know when to look again.
    if (second == 0) return;
    const bool known = place.task == task && place.said && now - place.said_at < second;
    if (place.task != task) place.said = false;
    place.task = task;
    place.next_lookup = now + second / looks_per_second;
    abi::TaskName name;
    if (!read_name(frame, *cpu.machine, offsets_, task, name) ||
        (known && same(name, place.name)) || !has_room(cpu, access))
        return;
    publish(cpu, task, name);
    place.name = name;
    place.said = true;
    place.said_at = now;
}

// The counter may be read as early as the trap (ARM ARM B8.1.2), which does no harm. In User mode
// TPIDRURO belongs to the process; in all other modes guest_task() returns it, too.
bool TaskNames::before(Cpu& cpu, Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    const Chooser* chooser = cpu.machine->chooser;
    if (!access.recorded || arch::mode_of(frame.psr) == arch::Mode::usr ||
        (chooses(chooser) && chooser->holds_all()))
        return true;
    const auto task = port::read<reg::TPIDRURO>();
    const std::uint64_t now = port::read<reg::CNTPCT>();
    if (!said_[cpu.number].knows(task, now)) look(cpu, frame, access, task, now);
    return true;
}

void TaskNames::prepare_fast_path(Cpu& cpu) {
    const auto task = port::read<reg::TPIDRURO>();
    const SaidTask& place = said_[cpu.number].place_of(task);
    cpu.fast.task = task;
    cpu.fast.next_lookup = place.task == task ? place.next_lookup : 0;
}

} // namespace mmioscope
