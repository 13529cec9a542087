#include "probes/probes.hpp"

#include "abi/chosen.hpp"
#include "arch/flow.hpp"
#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "guest/exception.hpp"
#include "machine/stepping.hpp"
#include "port/device.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"
#include "start/setup.hpp"
#include "trap/translate.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope {

using abi::control::Command;
using abi::control::ProbeEnd;
using abi::control::Status;

namespace {

/// HVC (A8.8.68); its immediate is in bits 19:8 and 3:0.
constexpr std::uint32_t hvc(std::uint32_t immediate) {
    return 0xe140'0070 | (immediate & 0xfff0) << 4 | (immediate & 0xf);
}
constexpr bool is_hvc(std::uint32_t word) {
    return (word & 0xfff0'00f0) == 0xe140'0070;
}

/// The guest can execute it in a step, and the next one is behind it. No exclusive: between the two
/// Hyp would clear the monitor.
bool can_be_probed(std::uint32_t word) {
    return arch::flow_of(word, false).kind == arch::Flow::Kind::plain;
}

/// As PL1 sees it, whatever the mode in which this CPU has trapped.
constexpr Frame privileged{
    .r = {}, .lr_usr = 0, .pc = 0, .psr = static_cast<std::uint32_t>(arch::Mode::svc)};

/// A record of what a request might have asked for.
void record_change(Cpu& cpu, Command command, std::uint32_t first, std::uint32_t second) {
    abi::Record record =
        event_record(abi::RecordType::configuration, first | std::uint64_t{second} << 32,
                     static_cast<std::uint32_t>(command));
    cpu.ring.publish_event(record);
}

} // namespace

BootError Probes::configure(Machine& machine, Setup& setup) {
    on_ = setup.tree.has(setup.tree.find("/chosen"), abi::chosen::probes);
    if (!on_) return {};
    machine.memory = MemoryOf::all_cpus;
    for (CallEntry& entry : machine.calls)
        if (entry.by == psci::Conduit::hvc && entry.immediate == 0)
            next_ = std::exchange(entry.ops, this);
    const bool room = next_ != nullptr || machine.calls.push_back({psci::Conduit::hvc, 0, this});
    return room ? BootError{} : BootError{"no room for the calls of probes", ""};
}

/// Between the hypervisor's stacks and the place for a boot tree lies memory that nobody uses.
bool Probes::add_to_tables(Machine& machine) {
    if (!on_) return true;
    room_ = {page_ceil(machine.image.stacks.end), machine.image.text.begin + abi::boot_tree_offset};
    lpae::Descriptor* const root = machine.pool.take();
    if (root == nullptr) return false;
    machine.has_original = true;
    View& original = machine.original() = View(root);
    original.share(machine.normal(0), machine.pool);
    for (const Range& range : machine.guest_memory)
        if (!original.split(range, machine.pool, lpae::first_level + 1)) return false;
    return machine.hyp_table.map(room_, lpae::hyp_data, machine.pool);
}

BootError Probes::start(Machine& machine, const Setup& setup) {
    if (!on_) return {};
    constexpr unsigned fewest_tables = 8;
    if (auto e = LiveTables::objection(machine, fewest_tables)) return e;
    if (setup.boot_tree.overlaps(room_))
        return {"the device tree lies where probes need room: load it elsewhere", ""};
    probes_ = port::memory_at<Probe>({room_.begin});
    room_.begin = page_ceil(room_.begin + most * sizeof(Probe));
    if (auto e = pages_.start(machine, *this, room_)) return e;
    return add_from_the_start(machine, setup);
}

/// The kernel is not there yet: the first fetch from their pages traps.
BootError Probes::add_from_the_start(Machine& machine, const Setup& setup) {
    Cpu& cpu = machine.cpus[0];
    const Tree& tree = setup.tree;
    const Property given = tree.property(tree.find("/chosen"), abi::chosen::probes);
    if (given.size % 8 != (given.size == 0 ? 0 : 4))
        return {"mmioscope,probes must have one cell, and two for each probe", ""};
    for (std::size_t n = 1; n < given.size / 4; n += 2) {
        const std::uint32_t va = given.cell(n), pa = va + given.cell(0), word = given.cell(n + 1);
        const bool possible =
            va % 4 == 0 && can_be_probed(word) && in_memory(machine.guest_memory, {pa});
        Page* page = possible ? pages_.find(pa) : nullptr;
        if (possible && page == nullptr) page = pages_.take(pa);
        if (page != nullptr && new_probe(*page, va, pa, word) != nullptr) {
            page->waits = true;
            pages_.show_as_data(*page);
        } else {
            const auto why = possible ? ProbeEnd::no_room : ProbeEnd::impossible;
            record_change(cpu, Command::unprobe, va, static_cast<std::uint32_t>(why));
        }
    }
    return {};
}

Probes::Page& Probes::page_of(const Probe& probe) {
    Page* const page = pages_.find(probe.pa);
    check(page != nullptr, "a probe has no page");
    return *page;
}

bool Probes::is_on(const Probe& probe, const Page& page) {
    return probe.va != no_code && page_floor(probe.pa) == page.pa;
}

std::uint32_t Probes::hvc_of(const Probe& probe) const {
    return hvc(static_cast<std::uint32_t>(&probe - probes_) + 1);
}

/// Null: there are too many.
Probes::Probe* Probes::new_probe(Page& page, std::uint32_t va, std::uint32_t pa,
                                 std::uint32_t word) {
    const auto free = std::ranges::find(all(), no_code, &Probe::va);
    if (free == all().end() && used_ == most) return nullptr;
    Probe& probe = free != all().end() ? *free : probes_[used_++];
    probe = {va, pa, word};
    ++page.probes;
    return &probe;
}

Status Probes::add(Machine& machine, VirtualAddress va, std::uint32_t word) {
    const auto found = translate(privileged, va);
    std::uint32_t there = 0;
    if (!found || !read_guest_memory(machine, *found, {&there, 1}) || there != word)
        return Status::other_code;
    const auto pa = static_cast<std::uint32_t>(found->value);
    Page* page = pages_.find(pa);
    if (!can_be_probed(word) || (page == nullptr && machine.span_at(*found) != nullptr))
        return Status::no_probe_here;
    if (page != nullptr && page->waits) return Status::no_probe_here;
    if (page != nullptr && is_hvc(pages_.word(*page, pa))) return Status::done;
    if (page != nullptr) pages_.hide(*page);
    else if ((page = pages_.take(pa)) != nullptr) pages_.copy(*page);
    if (page == nullptr) return Status::no_room;
    Probe* const probe = new_probe(*page, va.value, pa, word);
    if (probe != nullptr) pages_.set(*page, pa, hvc_of(*probe));
    settle(*page);
    return probe != nullptr ? Status::done : Status::no_room;
}

/// Its page is hidden, and stays so until settle().
void Probes::remove(Page& page, Probe& probe) {
    probe.va = no_code;
    --page.probes;
    pages_.renew(page, probe.pa);
}

void Probes::settle(Page& page) {
    if (page.probes == 0) pages_.give_back(page);
    else if (page.waits) pages_.show_as_data(page);
    else pages_.show(page);
}

Status Probes::change(Machine& machine, const abi::control::Request& r) {
    const std::uint32_t va = r.argument[0];
    if (r.command == Command::probe) return add(machine, {va}, r.argument[1]);
    bool found = va == 0;
    for (Probe& probe : all()) {
        if (probe.va == no_code || (va != 0 && probe.va != va)) continue;
        Page& page = page_of(probe);
        pages_.hide(page); // no CPU executes a word while it changes (A3.5.4)
        remove(page, probe);
        settle(page);
        found = true;
    }
    return found ? Status::done : Status::not_probed;
}

/// The kernel begins to execute the page.
void Probes::begin_all_on(Cpu& cpu, Page& page) {
    pages_.hide(page);
    pages_.copy(page);
    for (Probe& probe : all()) {
        if (!is_on(probe, page)) continue;
        if (pages_.word(page, probe.pa) == probe.word) {
            pages_.set(page, probe.pa, hvc_of(probe));
            record_change(cpu, Command::probe, probe.va, probe.word);
        } else {
            end(cpu, page, probe, ProbeEnd::other_code);
        }
    }
    settle(page);
}

void Probes::end(Cpu& cpu, Page& page, Probe& probe, ProbeEnd why) {
    const std::uint32_t va = probe.va;
    remove(page, probe);
    record_change(cpu, Command::unprobe, va, static_cast<std::uint32_t>(why));
}

void Probes::end_all_on(Cpu& cpu, Page& page, ProbeEnd why) {
    pages_.hide(page); // no CPU executes a word while it changes (A3.5.4)
    for (Probe& probe : all())
        if (is_on(probe, page)) end(cpu, page, probe, why);
    settle(page);
}

/// Whether the HVC at PC is a probe's. Code that the guest has mapped elsewhere, too, is the same
/// code.
bool Probes::is_probes(std::uint32_t immediate, const Frame& frame) const {
    if (immediate - 1 >= used_) return false; // 0, too
    const Probe& probe = probes_[immediate - 1];
    const std::uint32_t va = port::load_shared(probe.va);
    if (va == frame.pc) return true;
    if (va == no_code || (va - frame.pc) % page_size != 0) return false;
    const auto pa = translate(frame, {frame.pc});
    return pa && pa->value == probe.pa;
}

Outcome Probes::call(Cpu& cpu, Frame& frame) {
    const std::uint32_t immediate = arch::Hsr(port::read<reg::HSR>()).immediate();
    if (is_probes(immediate, frame)) return record(cpu, frame);
    // If it is not the guest's own, another CPU has taken the probe away since it was fetched.
    if (immediate != 0 && !in_thumb(frame) &&
        !is_hvc(fetch_instruction(frame, *cpu.machine).value_or(0))) {
        forget_instructions();
        return Outcome::again;
    }
    if (next_ != nullptr) return next_->call(cpu, frame);
    inject_undefined(frame);
    return Outcome::taken;
}

/// The guest then executes the instruction itself.
Outcome Probes::record(Cpu& cpu, Frame& frame) {
    auto& recorded = recorded_[cpu.number];
    const std::uint32_t sp = guest_register(frame, 13);
    if (recorded.pc != frame.pc || recorded.sp != sp) {
        if (cpu.ring.stalls() && !cpu.ring.has_room(1)) {
            ++cpu.ring.statistics().retries;
            return Outcome::again;
        }
        abi::Record r =
            describe_fault(frame, {frame.r[2]}, {frame.r[3]}, 0, abi::FaultReason::none);
        r.type = abi::RecordType::call;
        r.value = frame.r[0] | std::uint64_t{frame.r[1]} << 32;
        cpu.ring.publish_event(r);
    }
    recorded.pc = 0;
    cpu.step.ops = this;
    step_in(cpu, frame, cpu.machine->original(), frame.pc + 4);
    forget_instructions();
    return Outcome::again;
}

/// An instruction that accesses what traps has not been executed. It is again, in the page itself.
bool Probes::end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const std::uint32_t probed = cpu.step.stop - 4;
    const StepEnd end = leave_step(cpu, frame, hsr);
    cpu.step.ops = nullptr;
    forget_instructions();
    if (end == StepEnd::planned) return true;
    const bool accesses = end == StepEnd::trap && frame.pc == probed &&
                          hsr.ec() == arch::ExceptionClass::data_abort && !hsr.debug_event();
    if (!accesses) return caused_trap(cpu, frame, hsr, end);
    auto& recorded = recorded_[cpu.number] = {probed, guest_register(frame, 13)};
    if (!begin_quiet(cpu)) return true;
    const auto pa = translate(frame, {probed});
    Page* const page = pa ? pages_.find(static_cast<std::uint32_t>(pa->value)) : nullptr;
    if (page != nullptr) end_all_on(cpu, *page, ProbeEnd::accesses);
    end_quiet(cpu);
    recorded.pc = 0;
    return true;
}

/// cpu.trapped.access is a store to the page, which HSR describes.
void Probes::store(Cpu& cpu, const Frame& frame, Page& page) {
    const DeviceAccess& access = cpu.trapped.access;
    const auto pa = static_cast<std::uint32_t>(access.pa.value);
    const std::size_t size = std::size_t{1} << access.log2_size;
    pages_.hide(page);
    // Hyp maps the guest's memory Non-cacheable; the guest's caches may have the line.
    port::flush_to_coherency({pa}, size);
    port::device_write({pa}, access.log2_size, bus_value(frame, access.value, access.log2_size));
    port::flush_to_coherency({pa}, size);
    const auto patched = std::ranges::find_if(
        all(), [pa](const Probe& p) { return p.va != no_code && p.pa == (pa & ~3u); });
    if (patched != all().end()) end(cpu, page, *patched, ProbeEnd::patched);
    else pages_.renew(page, pa);
    settle(page);
}

Outcome Probes::access(Cpu& cpu, Frame& frame, abi::FaultReason) {
    const DeviceAccess& access = cpu.trapped.access;
    if (!access.write || !begin_quiet(cpu)) return Outcome::again;
    Page* const page = pages_.find(static_cast<std::uint32_t>(access.pa.value));
    const bool described = access.syndrome && access.pa.value % (1u << access.log2_size) == 0;
    if (page != nullptr && described) store(cpu, frame, *page);
    else if (page != nullptr) end_all_on(cpu, *page, ProbeEnd::page);
    end_quiet(cpu);
    return page != nullptr && described ? Outcome::done : Outcome::again;
}

Outcome Probes::fetch(Cpu& cpu, Frame&, VirtualAddress, PhysicalAddress pa, bool by_walk) {
    if (by_walk || !begin_quiet(cpu)) return Outcome::again;
    Page* const page = pages_.find(static_cast<std::uint32_t>(pa.value));
    if (page != nullptr && page->waits) begin_all_on(cpu, *page);
    end_quiet(cpu);
    return Outcome::again;
}

} // namespace mmioscope
