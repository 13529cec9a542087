#include "engine/fast_path.hpp"

#include "arch/psr.hpp"
#include "engine/debug_unit.hpp"
#include "guest/exception.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/banked.hpp"
#include "port/device.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

using arch::Mode;

constexpr unsigned lr = 14;

constexpr bool is_sp_or_pc(unsigned reg) {
    return reg == 13 || reg == 15;
}

/// Where a guest's device accesses come from: its kernel, and programs that map a device.
bool is_plain(const Machine& machine, std::uint32_t psr) {
    if ((psr & arch::psr_e) != 0) return false;
    const Mode mode = arch::mode_of(psr);
    return mode == Mode::svc || (mode == Mode::usr && !machine.user_firewall);
}

/// Of a trap that plain_access() is true of, as Record::access says it.
std::uint8_t access_bits(arch::Hsr hsr) {
    return static_cast<std::uint8_t>(abi::encode_access(hsr.write(), hsr.log2_size()) |
                                     (hsr.sign_extend() ? abi::access_sign_extend : 0u) |
                                     abi::access_syndrome | abi::access_emulated);
}

std::uint8_t mode_bits(const Frame& frame) {
    return static_cast<std::uint8_t>(static_cast<std::uint32_t>(arch::mode_of(frame.psr)) |
                                     (in_thumb(frame) ? abi::mode_thumb : 0u));
}

/// As it is on the bus.
std::uint32_t stored_value(const Frame& frame, arch::Hsr hsr, bool user) {
    const std::uint32_t value = hsr.srt() != lr ? frame.r[hsr.srt()]
                                : user          ? frame.lr_usr
                                                : port::read_lr_svc();
    return hsr.log2_size() == 2 ? value : value & ((1u << (8u << hsr.log2_size())) - 1);
}

void deliver(Frame& frame, arch::Hsr hsr, bool user, std::uint32_t value) {
    if (hsr.sign_extend())
        value = static_cast<std::uint32_t>(hsr.log2_size() == 0 ? static_cast<std::int8_t>(value)
                                                                : static_cast<std::int16_t>(value));
    if (hsr.srt() != lr) frame.r[hsr.srt()] = value;
    else if (user) frame.lr_usr = value;
    else port::write_lr_svc(value);
}

/// What the bus answered; of a store its `value` too.
port::Answer perform(arch::Hsr hsr, std::uint32_t pa, std::uint32_t value) {
    if (!hsr.write()) return port::try_device_read({pa}, hsr.log2_size());
    return {value, port::try_device_write({pa}, hsr.log2_size(), value).hsr};
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

void count(Cpu& cpu, bool user) {
    abi::Statistics& statistics = cpu.ring.statistics();
    ++statistics.traps;
    ++statistics.emulated;
    if (user) ++statistics.emulated_user;
}

} // namespace

bool take_fast_path(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    Machine& machine = *cpu.machine;
    if (!hsr.plain_access() || machine.stopped.load(std::memory_order_relaxed) != 0 ||
        cpu.always_slow || cpu.slow_now || !is_plain(machine, frame.psr))
        return false;
    const std::uint32_t va = port::read<reg::HDFAR>();
    const std::uint32_t pa = port::read<reg::HPFAR>() << 8 | va % page_size;
    const Span* span = machine.pages.find(pa);
    if (span == nullptr || va % (1u << hsr.log2_size()) != 0 || is_sp_or_pc(hsr.srt()) ||
        !cpu.ring.ready() || guest_watches())
        return false;
    RegionLock& region = machine.locks[span->region];
    if (!take(region, cpu, *span)) return false;

    auto record = cpu.ring.open();
    const bool user = arch::mode_of(frame.psr) == Mode::usr;
    record->type = abi::RecordType::access;
    record->access = access_bits(hsr);
    record->mode = mode_bits(frame);
    record->lock_sequence = region.next_sequence();
    record->device = span->region;
    record->flags = record->pa_high = 0;
    record->pc = frame.pc;
    record->lr = user ? frame.lr_usr : port::read_lr_svc();
    record->sp = user ? port::read_sp_usr() : port::read_sp_svc();
    record->va = va;
    record->pa_low = pa;
    record->task = user ? port::read_sp_svc() : port::read<reg::TPIDRURO>();

    std::uint32_t value = 0;
    if (hsr.write()) {
        region.count_store({pa});
        value = stored_value(frame, hsr, user);
    }
    const std::uint64_t time = record->time = cpu.ring.begin(frame.pc, pa);
    const port::Answer answer = perform(hsr, pa, value);
    const std::uint64_t done = cpu.ring.complete(); // before the lock is free
    record->duration = static_cast<std::uint32_t>(done - time);
    record->value = answer.value;
    if (answer.hsr != 0) [[unlikely]] {
        record->type = abi::RecordType::fault;
        record->value = abi::fault_value(abi::FaultReason::external_abort);
    }
    cpu.ring.close(record);
    cpu.ring.finish();
    region.lock.release();
    count(cpu, user);
    if (answer.hsr != 0) [[unlikely]] {
        inject_data_abort(frame, {va}, hsr.write(), answered_by(arch::Hsr(answer.hsr)));
        return true;
    }
    if (!hsr.write()) deliver(frame, hsr, user, answer.value);
    if (in_thumb(frame)) skip_instruction(frame, hsr.il());
    else frame.pc += 4;
    return true;
}

} // namespace mmioscope
