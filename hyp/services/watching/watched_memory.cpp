#include "watching/watched_memory.hpp"

#include "abi/chosen.hpp"
#include "abi/control_check.hpp"
#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "changing/request_record.hpp"
#include "dt/regions.hpp"
#include "machine/stepping.hpp"
#include "start/setup.hpp"
#include "trap/fast_path.hpp"
#include "trap/translate.hpp"
#include "watching/exclusive_pair.hpp"

#include <algorithm>

namespace mmioscope {

using abi::control::Command;
using abi::control::Status;
using abi::control::WatchEnd;

namespace {

bool read_target(const Machine& machine, Beat& target) {
    return read_guest_memory(machine, target.pa, {&target.value, 1});
}

/// The access of cpu.trapped that loads PC from an aligned word of memory; makes it one of a list.
/// Null: nobody knows where the instruction leads, or it changes CPSR, too (LDM with `^`, RFE).
Beat* target_of(Cpu& cpu) {
    Trapped& trapped = cpu.trapped;
    DeviceAccess& access = trapped.access;
    if (!access.decoded || access.bank != arch::Bank::core) return nullptr;
    if (!access.listed) {
        trapped.beats[0] = trapped.beat(0);
        trapped.beats[0].place = access.reg;
        access.listed = true;
        access.plain = false;
    }
    Beat* target = nullptr;
    for (Beat& beat : std::span(trapped.beats, access.beats)) {
        if (beat.place == arch::place_spsr) return nullptr;
        if (beat.place == arch::pc && !beat.unmapped && beat.log2_size == 2) target = &beat;
    }
    const bool readable = target != nullptr && read_target(*cpu.machine, *target);
    return readable ? target : nullptr;
}

} // namespace

BootError WatchedMemory::configure(Machine& machine, Setup& setup) {
    on_ = setup.tree.has(setup.tree.find("/chosen"), abi::chosen::watch);
    if (on_) machine.memory = std::max(machine.memory, MemoryOf::all_cpus);
    return {};
}

bool WatchedMemory::add_to_tables(Machine& machine) {
    return !on_ || add_memory(machine.regions, machine.guest_memory, machine.own_memory);
}

BootError WatchedMemory::start(Machine& machine, const Setup& setup) {
    if (!on_) return {};
    constexpr unsigned fewest_tables = 8;
    if (auto e = LiveTables::objection(machine, fewest_tables)) return e;
    const auto region = static_cast<std::uint16_t>(machine.regions.size() - 1);
    // Only the index says what is watched: other memory may trap while tables change.
    owner_ = machine.locks.take_page_owner({lpae::input_end, lpae::input_end}, *this);
    if (owner_ == nullptr) return {"no room for the owner of watched memory", ""};
    owner_->own.region = region;
    set_traced(traced_);
    owner_->device = region;

    const Tree& tree = setup.tree;
    const Property list = tree.property(tree.find("/chosen"), abi::chosen::watch);
    if (list.size % 8 != 0) return {"mmioscope,watch must have two cells for each range", ""};
    for (std::size_t n = 0; n < list.size / 4; n += 2) {
        const std::uint32_t begin = list.cell(n), size = list.cell(n + 1);
        if (!abi::control::can_be_watched(begin, size) ||
            watch(machine, {begin, std::uint64_t{begin} + size}) != Status::done)
            return {"mmioscope,watch: no memory of the guest, or no room", ""};
        record_change(machine.cpus[0], Command::watch, begin, size);
    }
    choose_fast_regions(machine);
    return {};
}

bool WatchedMemory::is_watched(const Machine& machine, std::uint64_t page) const {
    return page < lpae::input_end && machine.pages.find(static_cast<std::uint32_t>(page)) == owner_;
}

bool WatchedMemory::can_watch(const Machine& machine, std::uint64_t page) const {
    const Span* const span = machine.span_at({page});
    return is_watched(machine, page) || (in_memory(machine.guest_memory, {page}) &&
                                         !in_memory(machine.no_map, {page}) && span == nullptr);
}

/// False, and nothing has changed: no table is left.
bool WatchedMemory::set(Machine& machine, std::uint64_t page, bool watched) {
    if (is_watched(machine, page) == watched) return true;
    constexpr unsigned tables_for_index = 1; // the one that LiveTables needs is refused by itself
    const lpae::Descriptor all = lpae::make_leaf(page, lpae::guest_memory, lpae::last_level);
    const bool moves = moving_.is_ours(page);
    moving_.separate(page);
    const lpae::Descriptor before = moving_.at_first(page);
    LiveTables tables(machine, integrity_);
    const auto store = [this](std::uint32_t& word, std::uint32_t value) {
        integrity_.store_sealed(word, value);
    };
    const auto at = static_cast<std::uint32_t>(page);
    if (watched && machine.pool.left() <= tables_for_index) return false;
    if (!tables.map(normal_views, page, watched ? 0 : before)) return false;
    if (moves && !tables.map(shadow_views & views_of_cpus(machine), page, watched ? all : before))
        return false;
    check(machine.pages.give(at, watched ? owner_ : nullptr, machine.pool, store),
          "no room in the page index");
    moving_.lend(page, watched);
    if (!watched) tables.join(page);
    return true;
}

bool WatchedMemory::watches(const Range& bytes) const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const Range& part) { return part.overlaps(bytes); });
}

/// False, and nothing has changed: no room for what is left of them.
bool WatchedMemory::take_away(const Range& bytes) {
    Parts left;
    for (const Range& part : parts_)
        for (const Range& piece : {Range{part.begin, std::min(part.end, bytes.begin)},
                                   Range{std::max(part.begin, bytes.end), part.end}})
            if (!piece.empty() && !left.push_back(piece)) return false;
    parts_ = left;
    return true;
}

/// Gives back the pages of `changed` of which no byte is watched any more. Only if a part is no
/// whole pages each access is asked where it goes.
void WatchedMemory::settle(Machine& machine, std::span<const Range> changed) {
    for (const Range& part : changed)
        for (std::uint64_t page = page_floor(part.begin); page < part.end; page += page_size)
            if (!watches({page, page + page_size}))
                check(set(machine, page, false), "a watched page cannot be given back");
    const bool pages = std::all_of(parts_.begin(), parts_.end(), [](const Range& part) {
        return (part.begin | part.end) % page_size == 0;
    });
    owner_->own.hooks = pages ? nullptr : this;
    untraced_ = owner_->own;
    untraced_.tracing = 0;
    // Stores to pages that do not trap any more are not counted, so this ends all reservations.
    machine.locks.count_stores_everywhere(machine.regions.size());
}

Status WatchedMemory::watch(Machine& machine, Range bytes) {
    std::uint64_t page = page_floor(bytes.begin);
    for (; page < bytes.end; page += page_size)
        if (!can_watch(machine, page)) return Status::not_watchable;
    const Parts before = parts_;
    bool room = take_away(bytes) && parts_.push_back(bytes);
    for (page = page_floor(bytes.begin); room && page < bytes.end; page += page_size)
        room = set(machine, page, true);
    if (!room) parts_ = before; // those of other requests stay; this one is not carried out in part
    settle(machine, {&bytes, 1});
    return room ? Status::done : Status::no_room;
}

Status WatchedMemory::change(Machine& machine, const abi::control::Request& r) {
    const std::uint64_t begin = r.argument[0];
    const Range bytes{begin, r.argument[1] != 0 ? begin + r.argument[1] : lpae::input_end};
    if (r.command == Command::watch) return watch(machine, bytes);
    if (!watches(bytes)) return r.argument[1] == 0 ? Status::done : Status::not_watched;
    const Parts before = parts_;
    if (!take_away(bytes)) return Status::no_room;
    settle(machine, {before.begin(), before.size()});
    return Status::done;
}

/// The guest then tries again.
Outcome WatchedMemory::give_back(Cpu& cpu, PhysicalAddress pa, WatchEnd why) {
    Machine& machine = *cpu.machine;
    if (!begin_quiet(cpu)) return Outcome::again;
    const Range page{page_floor(pa.value), page_floor(pa.value) + page_size};
    if (is_watched(machine, page.begin)) {
        take_away(page); // where there is no room, a part has a page that does not trap
        check(set(machine, page.begin, false), "a watched page cannot be given back");
        machine.locks.count_stores_everywhere(machine.regions.size());
        record_change(cpu, Command::unwatch, static_cast<std::uint32_t>(page.begin),
                      page_size | static_cast<std::uint32_t>(why) << abi::control::watch_end_shift);
    }
    end_quiet(cpu);
    return Outcome::again;
}

// The word that leads on is read under the lock. Only memory may be read twice.
Outcome WatchedMemory::access(Cpu& cpu, Frame& frame, abi::FaultReason why) {
    using enum abi::FaultReason;
    Beat* const target = why == loads_pc ? target_of(cpu) : nullptr;
    if (target != nullptr) why = none;
    const Outcome outcome = cpu.machine->devices->access(cpu, frame, why);
    if (target != nullptr && cpu.step.armed) {
        check(read_target(*cpu.machine, *target), "memory is none any more");
        cpu.step.stop = target->value & ~1u;
        cpu.debug.arm(cpu.step.stop, (target->value & 1) != 0);
    }
    const DeviceAccess& access = cpu.trapped.access;
    if (access.exclusive && !access.write && cpu.step.armed) exclusive_pair.prolong(cpu, frame);
    return outcome;
}

Outcome WatchedMemory::fetch(Cpu& cpu, Frame&, VirtualAddress, PhysicalAddress pa, bool by_walk) {
    return give_back(cpu, pa, by_walk ? WatchEnd::walk : WatchEnd::code);
}

/// What lies beside the page is no reason to give it back. Another CPU may just have done so.
Outcome WatchedMemory::refused(Cpu& cpu, Frame& frame, abi::FaultReason why) {
    const PhysicalAddress pa = cpu.trapped.access.pa;
    return in_memory(cpu.machine->guest_memory, pa) ? give_back(cpu, pa, WatchEnd::unknown)
                                                    : OwnerOps::refused(cpu, frame, why);
}

/// The guest itself maintains its caches.
Outcome WatchedMemory::maintain(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    OwnerOps::maintain(cpu, frame, hsr);
    cpu.step.ops = this;
    step_in(cpu, frame, *cpu.shadow, frame.pc + (hsr.il() ? 4 : 2));
    port::write<reg::HSTR>(arch::hstr_cp15 & ~bit(7)); // c7
    return Outcome::again;
}

/// Accesses of other bytes of a watched page make no records.
std::optional<Outcome> WatchedMemory::before(Cpu& cpu, Frame&) {
    Trapped& trapped = cpu.trapped;
    DeviceAccess& access = trapped.access;
    bool recorded = !access.decoded;
    const auto choose = [&](const Span*& span, PhysicalAddress pa, unsigned bytes) {
        if (span == &owner_->own && !watches({pa.value, pa.value + bytes})) span = &untraced_;
        recorded |= span != nullptr && span->traced();
    };
    for (Beat& beat : std::span(trapped.beats, access.listed ? access.beats : 0u))
        choose(beat.span, beat.pa, 1u << beat.log2_size);
    constexpr unsigned descriptor = 8;
    if (access.stage1_walk) choose(access.span, access.pa, descriptor);
    else if (!access.listed) choose(access.span, access.pa, 1u << access.log2_size);
    access.recorded = recorded;
    return {};
}

bool WatchedMemory::end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const StepEnd end = leave_step(cpu, frame, hsr);
    cpu.step.ops = nullptr;
    return end == StepEnd::planned || caused_trap(cpu, frame, hsr, end);
}

} // namespace mmioscope
