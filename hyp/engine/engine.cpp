#include "engine/engine.hpp"

#include "engine/record.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"

namespace mmioscope {

bool begin_access(Cpu& cpu, const DeviceAccess& access) {
    abi::Statistics& statistics = cpu.ring.statistics();
    if (!cpu.locks.acquire(cpu.machine->locks, regions_of(cpu.step, access), cpu.number,
                           statistics.lock_spins)) {
        ++statistics.retries;
        return false;
    }
    if (!access.recorded) ++statistics.unselected; // now: the access may end the machine
    return true;
}

void publish_if_last(Cpu& cpu, const Frame& frame, const DeviceAccess& access,
                     abi::Record& record) {
    if (!access.ends_machine || !access.recorded) return;
    record.flags |= abi::flag_early;
    if (access.listed) publish_beats(cpu, frame, access, record);
    else cpu.ring.publish(record);
    cpu.ring.finish();
    port::complete_system();
}

} // namespace mmioscope
