#include "watching/watched_memory.hpp"

#include "abi/chosen.hpp"
#include "abi/control_check.hpp"
#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "changing/request_record.hpp"
#include "machine/stepping.hpp"
#include "start/setup.hpp"
#include "trap/fast_path.hpp"
#include "trap/translate.hpp"

#include <algorithm>

namespace mmioscope {

using abi::control::Command;
using abi::control::Status;
using abi::control::WatchEnd;

namespace {

Range range_in(const Property& list, std::size_t n) {
    const std::uint64_t begin = list.cell(n);
    return {begin, begin + list.cell(n + 1)};
}

bool read_target(const Machine& machine, Beat& target) {
    return read_guest_memory(machine, target.pa, {&target.value, 1});
}

/// The access of cpu.trapped that loads PC from an aligned word of memory; makes it one of a list.
/// Null: nobody knows where the instruction leads, or it changes CPSR, too (LDM with `^`, RFE).
Beat* target_of(Cpu& cpu) {
    constexpr unsigned pc = 15;
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
        if (beat.place == pc && !beat.unmapped && beat.log2_size == 2) target = &beat;
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

/// All memory is one region to those who read the records. The map does not have it, so nothing but
/// requests of this service can select it.
bool WatchedMemory::add_to_tables(Machine& machine) {
    if (!on_) return true;
    abi::RegionEntry memory{};
    memory.base = machine.guest_memory.begin()->begin;
    memory.size = machine.own_memory.end - memory.base;
    for (const Range& part : machine.guest_memory)
        memory.size = std::max(memory.size, part.end - memory.base);
    memory.flags = abi::region_memory;
    std::copy_n(abi::memory_path, sizeof abi::memory_path, memory.path);
    return machine.regions.push_back(memory);
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
        const Range pages = range_in(list, n);
        if (!abi::control::can_be_watched(list.cell(n), list.cell(n + 1)) ||
            watch(machine, pages) != Status::done)
            return {"mmioscope,watch: no memory of the guest, no whole pages, or no room", ""};
        record_change(machine.cpus[0], Command::watch, list.cell(n), list.cell(n + 1));
    }
    choose_fast_regions(machine);
    return {};
}

bool WatchedMemory::is_watched(const Machine& machine, std::uint64_t page) const {
    return page < lpae::input_end && machine.pages.find(static_cast<std::uint32_t>(page)) == owner_;
}

bool WatchedMemory::can_watch(const Machine& machine, std::uint64_t page) const {
    return is_watched(machine, page) ||
           (in_memory(machine.guest_memory, {page}) && !in_memory(machine.no_map, {page}) &&
            machine.span_at({page}) == nullptr);
}

/// False, and nothing has changed: no table is left.
bool WatchedMemory::set(Machine& machine, std::uint64_t page, bool watched) {
    if (is_watched(machine, page) == watched) return true;
    constexpr unsigned tables_for_index = 1; // the one that LiveTables needs is refused by itself
    const lpae::Descriptor leaf =
        watched ? 0 : lpae::make_leaf(page, lpae::guest_memory, lpae::last_level);
    LiveTables tables(machine, integrity_);
    const auto store = [this](std::uint32_t& word, std::uint32_t value) {
        integrity_.store_sealed(word, value);
    };
    const auto at = static_cast<std::uint32_t>(page);
    if (watched && machine.pool.left() <= tables_for_index) return false;
    if (!tables.map(normal_views, page, leaf)) return false;
    check(machine.pages.give(at, watched ? owner_ : nullptr, machine.pool, store),
          "no room in the page index");
    if (!watched) tables.join(page);
    return true;
}

Status WatchedMemory::watch(Machine& machine, Range pages) {
    std::uint64_t page = pages.begin;
    for (; page < pages.end; page += page_size)
        if (!can_watch(machine, page)) return Status::not_watchable;
    for (page = pages.begin; page < pages.end; page += page_size) {
        // Those of other requests stay. This one is not carried out in part.
        if (set(machine, page, true)) continue;
        while (page != pages.begin) check(set(machine, page -= page_size, false), "no way back");
        return Status::no_room;
    }
    if (seen_.empty()) seen_ = pages;
    seen_ = {std::min(seen_.begin, pages.begin), std::max(seen_.end, pages.end)};
    return Status::done;
}

Status WatchedMemory::change(Machine& machine, const abi::control::Request& r) {
    const std::uint64_t begin = r.argument[0];
    const Range pages{begin, begin + r.argument[1]};
    if (r.command == Command::watch) return watch(machine, pages);
    bool any = false;
    for (std::uint64_t page = seen_.begin; page < seen_.end; page += page_size) {
        if (!is_watched(machine, page) || (!pages.empty() && !pages.contains(page))) continue;
        any = true;
        check(set(machine, page, false), "a watched page cannot be given back");
    }
    // Stores to pages that do not trap any more are not counted, so this ends all reservations.
    machine.locks.count_stores_everywhere(machine.regions.size());
    return any || pages.empty() ? Status::done : Status::not_watched;
}

/// The guest then tries again.
Outcome WatchedMemory::give_back(Cpu& cpu, PhysicalAddress pa, WatchEnd why) {
    Machine& machine = *cpu.machine;
    if (!begin_quiet(cpu)) return Outcome::again;
    const Range page{page_floor(pa.value), page_floor(pa.value) + page_size};
    if (is_watched(machine, page.begin)) {
        check(set(machine, page.begin, false), "a watched page cannot be given back");
        machine.locks.count_stores_everywhere(machine.regions.size());
        record_change(cpu, Command::unwatch, static_cast<std::uint32_t>(page.begin),
                      page_size | static_cast<std::uint32_t>(why));
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
    return outcome;
}

Outcome WatchedMemory::fetch(Cpu& cpu, Frame&, VirtualAddress, PhysicalAddress pa, bool by_walk) {
    return give_back(cpu, pa, by_walk ? WatchEnd::walk : WatchEnd::code);
}

/// What lies beside the page is no reason to give it back.
Outcome WatchedMemory::refused(Cpu& cpu, Frame& frame, abi::FaultReason why) {
    const PhysicalAddress pa = cpu.trapped.access.pa;
    if (!is_watched(*cpu.machine, page_floor(pa.value))) return OwnerOps::refused(cpu, frame, why);
    return give_back(cpu, pa, WatchEnd::unknown);
}

/// The guest itself maintains its caches.
Outcome WatchedMemory::maintain(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    OwnerOps::maintain(cpu, frame, hsr);
    cpu.step.ops = this;
    step_in(cpu, frame, *cpu.shadow, frame.pc + (hsr.il() ? 4 : 2));
    port::write<reg::HSTR>(arch::hstr_cp15 & ~bit(7)); // c7
    return Outcome::again;
}

bool WatchedMemory::end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const StepEnd end = leave_step(cpu, frame, hsr);
    cpu.step.ops = nullptr;
    return end == StepEnd::planned || caused_trap(cpu, frame, hsr, end);
}

} // namespace mmioscope
