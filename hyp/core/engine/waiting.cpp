#include "engine/waiting.hpp"

#include "engine/record.hpp"
#include "machine/machine.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

/// A lock is held for one access. An emulator's host may suspend a CPU in the middle of it, but
/// seldom for longer than this.
constexpr unsigned seconds = 2;

/// The part of `access` that needs the lock of `region`.
Beat part_in(const Trapped& trapped, const DeviceAccess& access, std::uint16_t region) {
    for (unsigned n = 0; access.listed && n < access.beats; ++n) {
        const Beat& beat = trapped.beats[n];
        if (beat.span != nullptr && beat.span->region == region) return beat;
    }
    const std::uint64_t offset = region == access.span->region ? 0 : access.beyond - 1u;
    return {.va = access.va + static_cast<std::uint32_t>(offset),
            .pa = access.pa + offset,
            .write = access.write};
}

void publish(Cpu& cpu, const Frame& frame, const DeviceAccess& access, const LockHolder& holder) {
    const std::uint16_t region = holder.region == choice_lock ? access.span->region : holder.region;
    const Beat part = part_in(cpu.trapped, access, region);
    abi::Record record =
        describe_fault(frame, part.va, part.pa, abi::encode_access(part.write, access.log2_size),
                       abi::FaultReason::lock_not_given_back);
    record.value = abi::fault_value(abi::FaultReason::lock_not_given_back, holder.cpu);
    record.device = region;
    publish_remark(cpu, record);
}

} // namespace

// The counter may be read as early as the trap (ARM ARM B8.1.2), which does not matter here.
void tell_of_wait(Cpu& cpu, const Frame& frame, const DeviceAccess& access) {
    const LockHolder holder = cpu.machine->locks.holder(cpu.locks.refused());
    if (holder.cpu == Lock::no_owner) return cpu.lock_wait.end();
    const std::uint64_t patience = std::uint64_t{seconds} * port::read<reg::CNTFRQ>();
    if (cpu.lock_wait.overdue(holder, port::read<reg::CNTPCT>(), patience))
        publish(cpu, frame, access, holder);
}

} // namespace mmioscope
