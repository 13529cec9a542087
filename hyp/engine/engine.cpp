#include "engine/engine.hpp"

#include "machine/machine.hpp"

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

} // namespace mmioscope
