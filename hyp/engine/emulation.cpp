#include "engine/emulation.hpp"

#include "arch/psr.hpp"
#include "engine/record.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/device.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

bool described_by_syndrome(const Frame& frame, const DeviceAccess& a) {
    const bool big_endian = (frame.psr & arch::psr_e) != 0;
    return a.syndrome && !a.stage1_walk && !big_endian && a.pa.value % (1u << a.log2_size) == 0;
}

std::uint32_t extend(std::uint64_t value, unsigned log2_size, bool sign) {
    if (!sign || log2_size >= 2) return static_cast<std::uint32_t>(value);
    return log2_size == 0 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value))
                          : static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
}

void perform(Frame& frame, const DeviceAccess& access, abi::Record& record) {
    if (access.write) {
        port::device_write(access.pa, access.log2_size, record.value);
    } else {
        record.value = port::device_read(access.pa, access.log2_size);
        set_guest_register(frame, access.reg,
                           extend(record.value, access.log2_size, access.sign_extend));
    }
    port::complete_system(); // done on the bus before the lock is free and the clock is read
}

} // namespace

Outcome EmulationEngine::carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) {
    if (!described_by_syndrome(frame, access)) return otherwise_.carry_out(cpu, frame, access);
    if (!begin_access(cpu, access)) return Outcome::again;

    abi::Record record = describe(frame, access);
    record.access |= abi::access_emulated;
    record.lock_sequence = cpu.locks.next_sequence(access.span->region);
    record.time = cpu.ring.begin(frame.pc, access.pa.value);
    publish_if_last(cpu, access, record);
    perform(frame, access, record);
    if (access.recorded && (record.flags & abi::flag_early) == 0) {
        record.duration = static_cast<std::uint32_t>(port::read<reg::CNTPCT>() - record.time);
        cpu.ring.publish(record);
    }
    cpu.ring.finish();
    cpu.locks.release();
    ++cpu.ring.statistics().emulated;
    return Outcome::done;
}

} // namespace mmioscope
