#include "start/start_mailbox.hpp"

#include "port/wait.hpp"

namespace mmioscope {

void call_other_cpus(const Board& on, OwnBus& bus, unsigned cpus, PhysicalAddress entry) {
    const MachineRegisters* registers = on.start_mailbox();
    if (on.psci || registers == nullptr) return;
    const StartMailbox& mailbox = *registers->device->mailbox;
    const PhysicalAddress base{registers->range.begin};
    for (unsigned cpu = 1; cpu < cpus; ++cpu) {
        bus.write(base + mailbox.address + cpu * mailbox.per_cpu,
                  static_cast<std::uint32_t>(entry.value));
        if (mailbox.signature != 0) bus.write(base + mailbox.signature, mailbox.signed_for + cpu);
        port::send_event();
    }
}

} // namespace mmioscope
