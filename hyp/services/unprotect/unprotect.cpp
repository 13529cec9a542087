#include "unprotect/unprotect.hpp"

#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "unprotect/shared_page.hpp"

namespace mmioscope {

Outcome Unprotect::step(Cpu& cpu, Frame& frame) {
    DeviceAccess& access = cpu.trapped.access;
    lpae::Descriptor& entry = shared_descriptor(*cpu.normal, access.pa.value);
    access.decoded = access.decoded && !access.listed;
    access.listed = false;
    begin_step(cpu, frame, *cpu.normal);
    if (access.ends_machine) allow_accesses(cpu); // the baseline holds nobody up
    cpu.locks.release(); // held for the sequence number, not for the access
    opened_[cpu.number] = &entry;
    open_shared_page(entry);
    return Outcome::again;
}

bool Unprotect::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    close_shared_page(*opened_[cpu.number]);
    return DeviceOps::finish(cpu, frame, hsr);
}

bool Unprotect::add_to_tables(Machine& machine) {
    return machine.config.engine != abi::EngineKind::unprotect ||
           add_shared_pages(machine.normal(0), machine.shadow(0), machine.map, machine.pool);
}

} // namespace mmioscope
