#include "trap/fast_path.hpp"

#include "arch/control.hpp"
#include "engine/engine.hpp"
#include "engine/service.hpp"
#include "machine/machine.hpp"
#include "port/fast_code.hpp"
#include "port/memory.hpp"
#include "trap/dispatch.hpp"

#include <algorithm>

namespace mmioscope {

namespace {

/// Accesses between two calls of Service::work(): fewer than the stream takes at each, so that it
/// catches up.
constexpr std::uint32_t work_interval = 6;

constexpr std::uint32_t first_syndrome = 0x9300'0000; ///< HSR of a data abort with ISV set
/// fast_path.S indexes fast_dispatch by HSR's bits 31:14.
constexpr unsigned hsr_shift = 14;

bool emulates(const Machine& machine) {
    return machine.config.engine == abi::EngineKind::emulation;
}

/// Whether only the slow path can handle the next trap. Locks that the fast path may not take close
/// it, too; asking here only saves a try.
bool next_is_slow(const Cpu& cpu) {
    return cpu.repeated_load.watches() || port::load_shared(cpu.machine->has_fast_regions) == 0;
}

/// Sets what the fast path's own steps write. False: they are not possible now, since the step's
/// breakpoints are not at the guest's vectors; the next slow step moves those.
[[gnu::always_inline]] inline bool prepare_steps(Cpu& cpu) {
    DebugUnit& debug = cpu.debug;
    const std::uint32_t control = port::read<reg::SCTLR>();
    if (!debug.is_hyps() || !debug.follows(control)) return false;
    FastState& fast = cpu.fast;
    fast.sctlr = control;
    fast.dscr_step = debug.dscr_step();
    fast.dscr = debug.dscr_between();
    debug.ready_step((fast.psr_plain & arch::psr_thumb) != 0);
    return true;
}

/// The access at `pc` that the fast path has begun becomes one of the slow path, in flight, with
/// its lock. Others may write into the record's slot, so only va, lr, sp and task come from there,
/// which decide nothing.
void adopt_access(Cpu& cpu, std::uint32_t pc) {
    const FastState& fast = cpu.fast;
    const arch::Hsr hsr(fast.hsr);
    Owner& owner = *port::memory_at<Owner>({fast.region});
    abi::Record& record = cpu.trapped.record;
    port::load_structure(record, cpu.ring.next_slot());
    record.type = abi::RecordType::access;
    record.cpu = static_cast<std::uint8_t>(cpu.number);
    record.access = static_cast<std::uint8_t>(fast.types[0] >> 16 |
                                              abi::encode_access(hsr.write(), hsr.log2_size()));
    record.mode = static_cast<std::uint8_t>(fast.types[0] >> 24);
    record.time = fast.time;
    record.duration = 0;
    record.device = static_cast<std::uint16_t>(port::load_shared(owner.device));
    record.flags = record.pa_high = 0;
    record.pa_low = fast.pa;
    record.pc = pc;
    record.value = 0;
    cpu.trapped.access = {{.decoded = true,
                           .syndrome = true,
                           .plain = true,
                           .wide = fast.length == 4,
                           .write = hsr.write(),
                           .sign_extend = hsr.sign_extend(),
                           .log2_size = hsr.log2_size(),
                           .reg = hsr.srt(),
                           .recorded = true},
                          {fast.pa},
                          {record.va},
                          cpu.machine->map.find({fast.pa})};
    cpu.trapped.payload = {};
    cpu.ring.begun(fast.time, pc, fast.pa);
    cpu.locks.adopt(owner);
    record.lock_sequence = cpu.locks.next_sequence(owner);
    ++cpu.ring.statistics().traps; // the one that began it
}

/// Makes the fast path's step one of the slow path. Kept out of what each slow trap executes.
[[gnu::noinline]] void adopt_step(Cpu& cpu) {
    const FastState& fast = cpu.fast;
    Trapped& trapped = cpu.trapped;
    adopt_access(cpu, fast.next_pc - fast.length);
    trapped.access.va = {trapped.record.va = fast.va};
    if (trapped.access.write) trapped.record.value = fast.value;
    cpu.step = {.armed = true, .stop = fast.next_pc, .psr = fast.psr};
    cpu.view.adopt(*cpu.shadow);
    ++cpu.ring.statistics().stepped;
}

/// Whether a step of the fast path is armed.
bool in_fast_step(std::uint32_t handler) {
    return handler >= port::fast_code(FastCode::finish) &&
           handler < port::fast_code(FastCode::finish_end);
}

/// Counts records that the fast path has published since it was opened.
void count(Cpu& cpu, std::uint32_t records) {
    abi::Statistics& statistics = cpu.ring.statistics();
    const bool emulation = emulates(*cpu.machine);
    statistics.traps += emulation ? records : std::uint64_t{2} * records;
    (emulation ? statistics.emulated : statistics.stepped) += records;
}

/// `psr`: the mode and T bit of the guest's PSR.
void set_psr_plain(Cpu& cpu, std::uint32_t psr) {
    constexpr auto usual = static_cast<std::uint32_t>(arch::Mode::svc);
    FastState& fast = cpu.fast;
    const bool emulation = emulates(*cpu.machine);
    const bool user = arch::mode_of(psr) == arch::Mode::usr;
    const bool thumb = (psr & arch::psr_thumb) != 0;
    const auto access = abi::access_syndrome | (emulation ? abi::access_emulated : 0u);
    const auto mode = (psr & arch::psr_mode) | (thumb ? abi::mode_thumb : 0u);
    fast.psr_plain = psr;
    fast.length = 4;
    fast.match = arch::address_match(0, thumb);
    fast.dispatch =
        static_cast<std::uint32_t>(port::address_of(cpu.machine->fast_dispatch[user]).value) -
        (first_syndrome >> hsr_shift);
    const std::uint32_t type = static_cast<std::uint32_t>(abi::RecordType::access) |
                               cpu.number << 8 | access << 16 | mode << 24;
    for (unsigned way = 0; way < fast_ways; ++way) {
        const unsigned log2_size = std::min(way % first_store, 2u);
        fast.types[way] = type | abi::encode_access(way >= first_store, log2_size) << 16;
    }
    fast.open = port::fast_code(psr == usual ? FastCode::open : FastCode::open_other);
    if (emulation)
        fast.access = port::fast_code(psr == usual ? FastCode::emulate : FastCode::emulate_other);
    else fast.access = port::fast_code(psr == usual ? FastCode::step : FastCode::step_other);
}

/// Counts what it has done, and takes back the slots that it has not used.
[[gnu::always_inline]] inline void release_slots(Cpu& cpu) {
    if (const std::uint32_t records = cpu.ring.release(cpu.fast.sequence)) count(cpu, records);
}

/// Opens the fast path, with the debug unit as it is, unless something is on that it does not
/// handle.
[[gnu::always_inline]] inline void reopen_fast_path(Cpu& cpu) {
    FastState& fast = cpu.fast;
    fast.after_reserve = fast.handler; // the slow path, since close_fast_path()
    if (next_is_slow(cpu) ||
        !cpu.ring.reserve(fast.header, fast.slot, fast.sequence, fast.commit, fast.head))
        return;
    DeviceOps& devices = *cpu.machine->devices;
    const bool names = devices.looks && // tasks of User mode have none
                       arch::mode_of(fast.psr_plain) != arch::Mode::usr;
    fast.after_reserve = names ? port::fast_code(FastCode::check_task) : fast.access;
    fast.handler = fast.ready =
        cpu.has_worker ? port::fast_code(FastCode::work) : fast.after_reserve;
    if (names) devices.prepare_fast_path(cpu);
}

/// Work before an access. Most of it uses nothing that the fast path holds.
[[gnu::noinline]] void do_work_between(Cpu& cpu) {
    const bool needs_all = cpu.machine->worker->work_needs_all(cpu);
    if (needs_all) close_fast_path(cpu);
    do_work(cpu);
    cpu.work_done = true;
    cpu.fast.work_in = work_interval;
    if (needs_all) reopen_fast_path(cpu); // nothing has touched the debug unit since it was open
}

} // namespace

void prepare_fast_path(const Machine& machine, Cpu& cpu) {
    using namespace arch;
    const bool emulation = emulates(machine);
    FastState& fast = cpu.fast = {};
    fast.hsr_mask = ~(3u << 22 | 0xfu << 16 | 1u << 6 | 1u); // SAS, SRT, WnR, the table's level
    fast.hsr_plain = first_syndrome | 0x06; // a translation fault of level 2 or 3; SSE is 0
    // Under emulation Hyp would have to advance ITSTATE, which only the slow path does; a stepped
    // instruction does it itself.
    fast.psr_mask = psr_e | psr_j | psr_thumb | psr_mode | (emulation ? psr_it : 0u);
    fast.pages = machine.pages.table();
    fast.owner = cpu.number + 1;
    fast.stack = static_cast<std::uint32_t>(stack_end(machine.image, cpu.number).value);
    fast.handler = port::fast_code(FastCode::slow);
    fast.reserve = port::fast_code(FastCode::reserve);
    fast.normal = cpu.normal->vttbr();
    fast.shadow = cpu.shadow->vttbr();
    fast.hstr_step = hstr_cp15;
    fast.hstr = hstr_vbar;
    fast.work_in = work_interval;
    set_psr_plain(cpu, static_cast<std::uint32_t>(Mode::svc));
}

void change_psr_plain(Cpu& cpu, std::uint32_t psr) {
    const bool thumb = (psr & arch::psr_thumb) != 0;
    const bool user = arch::mode_of(psr) == arch::Mode::usr;
    if (!user && arch::mode_of(psr) != arch::Mode::svc) return;
    // Under emulation an access of User mode needs the slow path, which checks and counts it. HSR
    // may be wrong about a Thumb store (arch/errata.hpp).
    if (user && emulates(*cpu.machine)) return;
    if (thumb && cpu.mistakes_thumb_stores) return;
    set_psr_plain(cpu, psr);
}

void open_fast_path(Cpu& cpu) {
    const bool open = emulates(*cpu.machine) ? cpu.debug.is_unwatched() : prepare_steps(cpu);
    if (open) reopen_fast_path(cpu);
}

void choose_fast_regions(Machine& machine) {
    const bool all = !chooses(machine.chooser);
    bool any = false;
    for (std::uint16_t n = 0; n < machine.regions.size(); ++n)
        machine.locks.of(n).lock.allow_fast_path(all);
    for (Owner& owner : machine.locks.of_pages()) {
        const bool fast = all && owner.own.traced() && !owner.own.hooks && !emulates(machine);
        owner.lock.allow_fast_path(fast);
        any |= fast;
    }
    for (const Span& span : machine.map) {
        any |= all && span.traced();
        if (span.changeable && !span.traced()) span.owner->lock.allow_fast_path(false);
    }
    port::store_shared(machine.has_fast_regions, any ? 1u : 0u);
}

bool in_step(const Cpu& cpu) {
    return cpu.step.armed || in_fast_step(cpu.fast.handler);
}

void end_fast_path(Cpu& cpu, std::uint32_t handler) {
    release_slots(cpu);
    if (in_fast_step(handler)) adopt_step(cpu);
}

} // namespace mmioscope

using namespace mmioscope;

void mmioscope_reserve(Cpu& cpu) {
    cpu.fast.handler = cpu.fast.ready;
    if (cpu.ring.spent(cpu.fast.sequence)) {
        release_slots(cpu);
        if (!cpu.ring.reserve_more(cpu.fast.slot))
            cpu.fast.handler = cpu.fast.after_reserve = port::fast_code(FastCode::slow);
    }
    if (cpu.has_worker) do_work_between(cpu);
}

// The caller holds the region's lock and has begun the record.
void mmioscope_access_aborted(Cpu& cpu, Frame& frame) {
    const arch::Hsr hsr{port::read<reg::HSR>()};
    abi::Record& record = cpu.trapped.record;
    close_fast_path(cpu);
    adopt_access(cpu, cpu.fast.next_pc);
    record.duration = static_cast<std::uint32_t>(cpu.ring.complete() - record.time);
    hand_on_abort(cpu, frame, hsr);
    cpu.ring.publish(record);
    cpu.ring.finish();
    cpu.locks.release();
    count_emulated(cpu, false);
    open_fast_path(cpu);
}
