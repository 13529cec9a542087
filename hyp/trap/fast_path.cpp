// The way of nearly every access of a boot, in one screen: a load or store of one core register, to
// a device that is traced. What it needs lies ready; whatever else there is closes it, and then the
// slow path (trap/abort.hpp) does the same, and all else.
#include "arch/psr.hpp"
#include "engine/engine.hpp"
#include "engine/record.hpp"
#include "engine/reexecution.hpp"
#include "guest/exception.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/banked.hpp"
#include "port/device.hpp"
#include "port/sysreg.hpp"
#include "trap/dispatch.hpp"

namespace mmioscope {

namespace {

using arch::Mode;

constexpr unsigned lr = 14;

constexpr bool is_sp_or_pc(unsigned reg) {
    return reg == 13 || reg == 15;
}

/// An access that the fast path carries out.
struct Plain {
    arch::Hsr hsr;
    std::uint32_t va{};
    std::uint32_t pa{};
    const Span* span{};
    RegionLock* region{}; ///< its lock is held
    bool user{};          ///< in User mode; else SVC mode
};

bool emulates(const Machine& machine) {
    return machine.config.engine == abi::EngineKind::emulation;
}

/// Where a guest's device accesses come from: its kernel, and programs that map a device.
bool is_plain_mode(const Machine& machine, std::uint32_t psr) {
    if ((psr & arch::psr_e) != 0) return false;
    const Mode mode = arch::mode_of(psr);
    return mode == Mode::svc || (mode == Mode::usr && !machine.user_firewall);
}

/// Of a trap that plain_access() is true of, as Record::access says it.
std::uint8_t access_bits(arch::Hsr hsr) {
    return static_cast<std::uint8_t>(abi::encode_access(hsr.write(), hsr.log2_size()) |
                                     (hsr.sign_extend() ? abi::access_sign_extend : 0u) |
                                     abi::access_syndrome);
}

/// What is on the bus when a register has `value`: bus_value() of the sizes that HSR can tell, in a
/// little-endian guest. With that one in its place an access costs 7 to 17 instructions more.
std::uint32_t cut(std::uint32_t value, arch::Hsr hsr) {
    return hsr.log2_size() == 2 ? value : value & ((1u << (8u << hsr.log2_size())) - 1);
}

std::uint32_t stored_value(const Frame& frame, const Plain& access) {
    const arch::Hsr hsr = access.hsr;
    const std::uint32_t value = hsr.srt() != lr ? frame.r[hsr.srt()]
                                : access.user   ? frame.lr_usr
                                                : port::read_lr_svc();
    return cut(value, hsr);
}

/// The guest has executed the load.
std::uint32_t loaded_value(const Frame& frame, arch::Hsr hsr) {
    return cut(hsr.srt() != lr ? frame.r[hsr.srt()] : guest_register(frame, lr), hsr);
}

void deliver(Frame& frame, const Plain& access, std::uint32_t value) {
    const arch::Hsr hsr = access.hsr;
    value = extend(value, hsr.log2_size(), hsr.sign_extend());
    if (hsr.srt() != lr) frame.r[hsr.srt()] = value;
    else if (access.user) frame.lr_usr = value;
    else port::write_lr_svc(value);
}

/// What the bus answered; of a store its `value` too.
port::Answer perform(arch::Hsr hsr, std::uint32_t pa, std::uint32_t value) {
    if (!hsr.write()) return port::try_device_read({pa}, hsr.log2_size());
    return {value, port::try_device_write({pa}, hsr.log2_size(), value).hsr};
}

/// What the task is called is not to be looked up now (trap/task_name.hpp): that is the slow
/// path's.
bool knows_task(const Cpu& cpu, bool user) {
    return cpu.machine->config.task_names.comm == 0 || user ||
           cpu.said_tasks.knows(port::read<reg::TPIDRURO>(), port::read<reg::CNTPCT>());
}

/// Takes the lock in one try. False: another CPU has it, or what is recorded has changed meanwhile,
/// which needs this lock, too.
bool take(RegionLock& region, const Cpu& cpu, const Span& span) {
    std::uint64_t spins = 0;
    if (!region.lock.try_acquire(cpu.number, 0, spins)) return false;
    if (span.traced() && !cpu.machine->control.choice.any) return true;
    region.lock.release();
    return false;
}

/// What is known of it before it is made. Record: a pointer, or a place in the ring.
template <class Record>
void describe(Record& record, const Frame& frame, const Plain& access, std::uint8_t emulated) {
    const arch::Hsr hsr = access.hsr;
    record->type = abi::RecordType::access;
    record->access = static_cast<std::uint8_t>(access_bits(hsr) | emulated);
    record->mode = mode_bits(frame);
    record->lock_sequence = access.region->next_sequence();
    record->device = access.span->region;
    record->flags = record->pa_high = 0;
    record->pc = frame.pc;
    record->lr = access.user ? frame.lr_usr : port::read_lr_svc();
    record->sp = access.user ? port::read_sp_usr() : port::read_sp_svc();
    record->va = access.va;
    record->pa_low = access.pa;
    record->task = access.user ? port::read_sp_svc() : port::read<reg::TPIDRURO>();
}

void emulate(Cpu& cpu, Frame& frame, const Plain& access) {
    const arch::Hsr hsr = access.hsr;
    auto record = cpu.ring.open();
    describe(record, frame, access, abi::access_emulated);
    const std::uint32_t stored = hsr.write() ? stored_value(frame, access) : 0;
    const std::uint64_t time = record->time = cpu.ring.begin(frame.pc, access.pa);
    const port::Answer answer = perform(hsr, access.pa, stored);
    const std::uint64_t done = cpu.ring.complete(); // before the lock is free
    record->duration = static_cast<std::uint32_t>(done - time);
    record->value = answer.value;
    if (answer.hsr != 0) [[unlikely]] {
        record->type = abi::RecordType::fault;
        record->value = abi::fault_value(abi::FaultReason::external_abort);
    }
    cpu.ring.close(record);
    cpu.ring.finish();
    access.region->lock.release();
    count_emulated(cpu, access.user);
    ++cpu.ring.statistics().traps;
    if (answer.hsr != 0) [[unlikely]]
        return inject_data_abort(frame, {access.va}, hsr.write(),
                                 answered_by(arch::Hsr(answer.hsr)));
    if (!hsr.write()) deliver(frame, access, answer.value);
    if (in_thumb(frame)) skip_instruction(frame, hsr.il());
    else frame.pc += 4;
}

/// The guest executes the instruction on its shadow table.
void begin_fast_step(Cpu& cpu, Frame& frame, const Plain& access) {
    Step& step = cpu.step;
    abi::Record* record = &step.record;
    describe(record, frame, access, 0);
    record->value = access.hsr.write() ? stored_value(frame, access) : 0;
    step.fast = {access.hsr, access.span, access.region};
    record->time = cpu.ring.begin(frame.pc, access.pa);
    arm_step(cpu, frame, access.hsr.il());
    cpu.view.open_shadow();
}

/// Leaves it to the slow path, as if that had begun it.
void hand_over_step(Cpu& cpu) {
    Step& step = cpu.step;
    ++cpu.ring.statistics().traps; // the one that began it
    const arch::Hsr hsr = step.fast.hsr;
    const std::uint16_t region = step.fast.span->region;
    step.access = {.va = {step.record.va},
                   .pa = {step.record.pa_low},
                   .span = step.fast.span,
                   .write = hsr.write(),
                   .decoded = true,
                   .log2_size = hsr.log2_size(),
                   .sign_extend = hsr.sign_extend(),
                   .reg = hsr.srt(),
                   .syndrome = true,
                   .wide = hsr.il(),
                   .recorded = true,
                   .last_region = region};
    cpu.locks.adopt(cpu.machine->locks, region);
    step.fast.region = nullptr;
}

/// False: it has not ended as planned.
bool end_fast_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    Step& step = cpu.step;
    if (!ends_as_planned(step, frame, hsr)) {
        hand_over_step(cpu);
        return false;
    }
    cpu.view.close_shadow(); // first: nothing below may run with the shadow open
    const std::uint64_t done = disarm_step(cpu);
    unmask_interrupts(step, frame);
    abi::Record& record = step.record;
    record.duration = static_cast<std::uint32_t>(done - record.time);
    if (!step.fast.hsr.write()) record.value = loaded_value(frame, step.fast.hsr);
    cpu.ring.publish_ready(record);
    cpu.ring.finish();
    step.fast.region->lock.release();
    step.fast.region = nullptr;
    step.stuck = false;
    cpu.ring.statistics().traps += 2;
    return true;
}

/// Whether the trap is one, its lock then held; what there is besides is the slow path's.
bool is_plain(Cpu& cpu, const Frame& frame, Plain& access) {
    Machine& machine = *cpu.machine;
    if (!access.hsr.plain_access() || cpu.always_slow || cpu.slow_now ||
        !is_plain_mode(machine, frame.psr) || (emulates(machine) && !cpu.debug.is_hyps()))
        return false;
    access.va = port::read<reg::HDFAR>();
    access.pa = port::read<reg::HPFAR>() << 8 | access.va % page_size;
    access.span = machine.pages.find(access.pa);
    if (access.span == nullptr || access.va % (1u << access.hsr.log2_size()) != 0 ||
        is_sp_or_pc(access.hsr.srt()) || !cpu.ring.ready())
        return false;
    access.user = arch::mode_of(frame.psr) == Mode::usr;
    if (!knows_task(cpu, access.user)) return false;
    access.region = &machine.locks[access.span->region];
    return take(*access.region, cpu, *access.span);
}

/// Emulates the access that trapped, records it, and steps over its instruction; under shadow
/// begins, or ends, the step of one. False: it is for the slow path, with nothing done but that a
/// step of its own has become the slow path's.
bool take_fast_path(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const Machine& machine = *cpu.machine;
    if (machine.stopped.load(std::memory_order_relaxed) != 0) return false;
    if (cpu.step.fast.region != nullptr) return end_fast_step(cpu, frame, hsr);
    Plain access{.hsr = hsr};
    if (!is_plain(cpu, frame, access)) return false;
    if (hsr.write()) access.region->count_store({access.pa});
    if (emulates(machine)) emulate(cpu, frame, access);
    else begin_fast_step(cpu, frame, access); // which counts its traps in the end
    return true;
}

} // namespace
} // namespace mmioscope

void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame) {
    using namespace mmioscope;
    const arch::Hsr hsr{port::read<reg::HSR>()};
    if (!take_fast_path(cpu, frame, hsr)) return take_slow_path(cpu, frame, hsr);
    if (cpu.serves_stream) serve_stream(cpu);
}
