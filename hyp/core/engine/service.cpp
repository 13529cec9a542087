#include "engine/service.hpp"

#include "machine/machine.hpp"

namespace mmioscope {

void verify_services(Machine& machine, Moment moment) {
    for (Service* service : machine.services) service->verify(machine, moment);
}

void end_services(Cpu& cpu, MachineEnd how) {
    for (Service* service : cpu.machine->services) service->end(cpu, how);
}

} // namespace mmioscope
