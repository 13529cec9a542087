#include "probes/probes.hpp"

#include "abi/chosen.hpp"
#include "changing/live_tables.hpp"
#include "guest/exception.hpp"
#include "machine/stepping.hpp"
#include "port/barrier.hpp"
#include "port/device.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"
#include "probes/instruction.hpp"
#include "start/setup.hpp"
#include "trap/dispatch.hpp"
#include "trap/translate.hpp"

#include <utility>

namespace mmioscope {

using abi::control::ProbeEnd;

BootError Probes::configure(Machine& machine, Setup& setup) {
    on_ = setup.tree.has(setup.tree.find("/chosen"), abi::chosen::probes);
    if (!on_) return {};
    machine.memory = std::max(machine.memory, MemoryOf::all_cpus);
    for (CallEntry& entry : machine.calls)
        if (entry.by == psci::Conduit::hvc && entry.immediate == 0)
            next_ = std::exchange(entry.ops, this);
    const bool room = next_ != nullptr || machine.calls.push_back({psci::Conduit::hvc, 0, this});
    return room ? BootError{} : BootError{"no room for the calls of probes", ""};
}

/// Between the hypervisor's stacks and the place for a boot tree lies memory that nobody uses. A
/// large trace area can spare a part.
bool Probes::add_to_tables(Machine& machine) {
    if (!on_) return true;
    room_ = {page_ceil(machine.image.stacks.end), machine.image.text.begin + abi::boot_tree_offset};
    Range& area = machine.image.area;
    more_ = {area.end, area.end};
    constexpr std::uint64_t large = 16u << 20;
    if (area.size() >= large && !machine.config.guest_reader)
        more_.begin = area.end = page_floor(area.end - area.size() / 8);
    lpae::Descriptor* const root = machine.pool.take();
    if (root == nullptr) return false;
    machine.has_original = true;
    View& original = machine.original() = View(root);
    original.share(machine.normal(0), machine.pool);
    for (const Range& range : machine.guest_memory)
        if (!original.split(range, machine.pool, lpae::first_level + 1)) return false;
    const std::uint64_t mailbox = machine.image.text.begin + abi::control_page_offset;
    return machine.hyp_table.map(room_, lpae::hyp_data, machine.pool) &&
           machine.hyp_table.map({mailbox, mailbox + page_size}, lpae::hyp_shared, machine.pool);
}

BootError Probes::start(Machine& machine, const Setup& setup) {
    if (!on_) return {};
    constexpr unsigned fewest_tables = 8;
    if (auto e = LiveTables::objection(machine, fewest_tables)) return e;
    if (!machine.cpus[0].debug.hvc_traps())
        return {"probes need HVC, which is undefined here: firmware must set SCR.HCE", ""};
    if (setup.boot_tree.overlaps(room_))
        return {"the device tree lies where probes need room: load it elsewhere", ""};
    cpus_ = machine.cpu_count;
    if (moving_.on()) room_ = moving_.room();
    if (room_.size() < most * (sizeof(Probe) + cpus_ * sizeof(Tally)) + page_size)
        return {"not enough room for probes beside pages that move: give fewer of these", ""};
    probes_ = port::memory_at<Probe>({room_.begin});
    room_.begin += most * sizeof(Probe);
    tallies_ = port::memory_at<Tally>({room_.begin});
    room_.begin = page_ceil(room_.begin + std::uint64_t{most} * cpus_ * sizeof(Tally));
    if (auto e = pages_.start(machine, *this, room_, more_)) return e;
    mailbox_ = port::memory_at<abi::control::Mailbox>(
        {machine.image.text.begin + abi::control_page_offset});
    *mailbox_ = {};
    return add_from_the_start(machine, setup);
}

/// Whether its HVC is that at PC. Code that the guest has mapped elsewhere, too, is the same code.
bool Probes::is_at(const Probe& probe, const Frame& frame) {
    const std::uint32_t va = port::load_shared(probe.va);
    if (va == frame.pc) return true;
    if (va == no_code || (va - frame.pc) % page_size != 0) return false;
    const auto pa = translate(frame, {frame.pc});
    return pa && pa->value == probe.pa;
}

Outcome Probes::call(Cpu& cpu, Frame& frame) {
    const std::uint32_t immediate = arch::Hsr(port::read<reg::HSR>()).immediate();
    if (immediate - 1 < used_) { // not 0
        Probe& probe = probes_[immediate - 1];
        // Another CPU may take it away, and set another one in its place. First what it is, then
        // whether it still is.
        const Probe now = probe;
        port::order_memory();
        if (is_at(probe, frame)) return hit(cpu, frame, probe, now);
    }
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

/// The guest then executes the instruction itself, if Hyp does not.
Outcome Probes::hit(Cpu& cpu, Frame& frame, Probe& probe, const Probe& now) {
    Hit& last = hits_[cpu.number];
    const bool has_record = last.recorded == frame.pc && last.sp == guest_register(frame, 13);
    if (!has_record && !record(cpu, frame, probe, now)) return Outcome::again;
    last.recorded = 0;
    if (!now.is(plain) && carry_out(frame, now.word)) return Outcome::again;
    const auto next = now.is(plain) ? frame.pc + 4 : next_of(cpu, frame, now.word);
    if (!next) {
        give_up(cpu, frame, ProbeEnd::impossible);
        return Outcome::again;
    }
    last.stepped = frame.pc;
    last.pa = now.pa;
    begin_step(cpu, frame, *next);
    return Outcome::again;
}

/// Of the instruction at PC.
void Probes::begin_step(Cpu& cpu, Frame& frame, std::uint32_t next) {
    cpu.step.ops = this;
    step_in(cpu, frame, pages_.open(cpu, hits_[cpu.number].pa), next);
    forget_instructions();
}

/// False: the guest tries again.
bool Probes::record(Cpu& cpu, const Frame& frame, Probe& probe, const Probe& now) {
    if (now.is(loads_modules) && !module_has_its_probes(cpu, frame, probe)) return false;
    if (now.is(abi::control::frees_code)) {
        if (!begin_quiet(cpu)) return false;
        end_freed(cpu, frame, probe);
        end_quiet(cpu);
    }
    const bool of_return = now.of != 0 && (probes_[now.of - 1].rule == 0 ||
                                           open_.has(guest_register(frame, 13), frame.pc));
    if ((of_return || now.is(calls)) && cpu.ring.stalls() && // a call, a return, hits
        !cpu.ring.has_room(3 + stacks_.records_of_call())) {
        ++cpu.ring.statistics().retries; // the guest waits for a reader
        return false;
    }
    const bool judged = now.is(calls) && now.rule != 0;
    const Verdict verdict = judged          ? judge(cpu, frame, probe, now, false)
                            : now.is(calls) ? Verdict::record
                                            : Verdict::hold;
    if (verdict == Verdict::again || (verdict == Verdict::fire && !fire(cpu))) return false;
    const bool of_call = verdict != Verdict::hold;
    std::optional<bool> returns = false;
    if (now.is(abi::control::returns)) {
        const std::uint32_t lr = guest_register(frame, 14);
        if (of_call) returns = now.site == lr ? true : watch_return(cpu, frame, probe);
        if (!returns) return false;
        if (judged) returns = open_.put(guest_register(frame, 13), lr, number_of(probe), *returns);
    }
    if (of_call && judged) judge(cpu, frame, probe, now, true);
    if (now.is(loads_modules)) port::store_shared(loading_, 0);
    if (!of_call && !of_return) return true;
    abi::Record r = describe_fault(frame, {}, {}, 0, abi::FaultReason::none);
    r.value = frame.r[0] | std::uint64_t{frame.r[1]} << 32;
    if (of_return) {
        abi::Record ret = r;
        ret.type = abi::RecordType::ret;
        ret.lr = ret.pc;
        cpu.ring.publish_event(ret);
        open_.end(r.sp, frame.pc);
    }
    if (of_call) {
        r.type = abi::RecordType::call;
        r.flags = *returns ? abi::flag_returns : 0;
        r.va = frame.r[2];
        r.pa_low = frame.r[3];
        cpu.ring.publish_event(r, stacks_.of_call(cpu, frame));
    }
    return true;
}

/// Whether the return of the call at PC makes a record. Empty: not known yet.
std::optional<bool> Probes::watch_return(Cpu& cpu, const Frame& frame, Probe& probe) {
    const std::uint32_t lr = guest_register(frame, 14);
    const auto found = translate(cpu, frame, {lr}, false);
    if (!found || lr % 4 != 0) return false;
    const auto pa = static_cast<std::uint32_t>(found->value);
    if (!modules_ && pa - lr != probe.pa - probe.va) return false; // it may be freed unnoticed
    // Of a function without a rule all returns are recorded.
    if (const Probe* const there = find(pa);
        there != nullptr && there->of != 0 &&
        (probe.rule != 0 || probes_[there->of - 1].rule == 0)) {
        probe.site = lr;
        return true;
    }
    std::uint32_t word = 0;
    if (!read_guest_memory(*cpu.machine, *found, {&word, 1}) ||
        !can_have_probe(*cpu.machine, pa, word))
        return false;
    if (!begin_quiet(cpu)) return std::nullopt;
    const auto number = static_cast<std::uint16_t>(number_of(probe));
    const auto status = put(cpu, {.va = lr, .pa = pa, .word = word, .of = number}, false);
    end_quiet(cpu);
    if (status == abi::control::Status::other_code) return std::nullopt;
    return status == abi::control::Status::done;
}

/// The guest executes the instruction at PC, which has its record, without a probe.
void Probes::give_up(Cpu& cpu, const Frame& frame, ProbeEnd why) {
    Hit& last = hits_[cpu.number];
    last.recorded = frame.pc;
    last.sp = guest_register(frame, 13);
    if (!begin_quiet(cpu)) return; // it comes again
    const auto pa = translate(frame, {frame.pc});
    Probe* const probe = pa ? find(static_cast<std::uint32_t>(pa->value)) : nullptr;
    if (probe != nullptr) end(cpu, *probe, why);
    end_quiet(cpu);
    last.recorded = 0;
}

/// Whether a step needs memory that another CPU has, or is changing: then this CPU has it now, or
/// has to try again.
bool Probes::gets_page(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const bool data = hsr.ec() == arch::ExceptionClass::data_abort;
    if ((!data && hsr.ec() != arch::ExceptionClass::prefetch_abort) || hsr.abort_on_walk())
        return false;
    const VirtualAddress va{data ? port::read<reg::HDFAR>() : port::read<reg::HIFAR>()};
    const std::uint64_t page = std::uint64_t{port::read<reg::HPFAR>() >> 4} << 12;
    const auto pa = hsr.stage1_walk() ? PhysicalAddress{page} : translate(cpu, frame, va, false);
    if (!pa) return true;
    const Span* const span = cpu.machine->span_at(*pa);
    const bool mine = span != nullptr && span->owner->ops == this;
    if (span == nullptr ? !in_memory(cpu.machine->guest_memory, *pa)
                        : !mine || (data && hsr.write()))
        return false;
    (data ? data_abort : prefetch_abort)(cpu, frame, hsr);
    return true;
}

/// An instruction that accesses what traps has not been executed. It is again, in the copy. What
/// only needed a page that another CPU had, or was to be changed, is stepped again, before any
/// interrupt: it has its record.
bool Probes::end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const bool moves = cpu.machine->memory == MemoryOf::each_cpu;
    const bool by_hvc =
        moves && hsr.ec() == arch::ExceptionClass::hvc && frame.pc == hits_[cpu.number].stepped + 4;
    if (by_hvc) frame.pc -= 4;
    const StepEnd end = leave_step(cpu, frame, hsr);
    pages_.close(cpu);
    cpu.step.ops = nullptr;
    forget_instructions();
    if (end == StepEnd::planned) return true;
    if (end != StepEnd::trap || frame.pc != hits_[cpu.number].stepped || hsr.debug_event())
        return caused_trap(cpu, frame, hsr, end);
    if (by_hvc || (moves && gets_page(cpu, frame, hsr))) {
        begin_step(cpu, frame, cpu.step.stop);
        return true;
    }
    if (hsr.ec() != arch::ExceptionClass::data_abort) return caused_trap(cpu, frame, hsr, end);
    give_up(cpu, frame, ProbeEnd::accesses);
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
    if (Probe* const patched = find(pa & ~3u)) return end(cpu, *patched, ProbeEnd::patched);
    pages_.renew(page, pa);
    pages_.settle(page);
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

Outcome Probes::fetch(Cpu& cpu, Frame& frame, VirtualAddress, PhysicalAddress pa, bool by_walk) {
    if (by_walk || !begin_quiet(cpu)) return Outcome::again;
    Page* const page = pages_.find(static_cast<std::uint32_t>(pa.value));
    if (page != nullptr && page->waits) {
        if (in_thumb(frame)) end_all_on(cpu, *page, ProbeEnd::impossible);
        else begin_all_on(cpu, *page);
    }
    end_quiet(cpu);
    return Outcome::again;
}

} // namespace mmioscope
