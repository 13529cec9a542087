#include "engine/service.hpp"

#include "base/check.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

// The number of services is a constant of the sealed text. Without this look, damage that makes the
// list empty would also make the search for damage empty.
void verify_services(Machine& machine, Moment moment) {
    check(machine.services.size() == linked_services().size(), "the list of services was changed");
    for (Service* service : machine.services) service->verify(machine, moment);
}

void end_services(Cpu& cpu, MachineEnd how) {
    for (Service* service : cpu.machine->services) service->end(cpu, how);
}

} // namespace mmioscope
