#include "engine/shadow.hpp"

#include "arch/psr.hpp"
#include "engine/emulation.hpp"
#include "engine/reexecution.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

namespace {

/// Whether Hyp makes the access itself, which costs less: it makes no record, and has the same
/// privilege and memory type on the bus. Memory is the guest's to map, and may be in its cache.
bool needs_no_step(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.step.access;
    if (access.recorded || arch::mode_of(frame.psr) == arch::Mode::usr) return false;
    const abi::RegionEntry& region = cpu.machine->regions[access.span->region];
    return (region.flags & abi::region_memory) == 0 && EmulationEngine::can_do(cpu, frame);
}

} // namespace

Outcome ShadowEngine::carry_out(Cpu& cpu, Frame& frame) {
    if (needs_no_step(cpu, frame)) return EmulationEngine(*this).carry_out(cpu, frame);
    begin_step(cpu, frame);
    cpu.debug.arm(cpu.step.next_pc, in_thumb(frame));
    cpu.view.open_shadow();
    return Outcome::again;
}

bool ShadowEngine::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    cpu.view.close_shadow(); // first of all: nothing below may run with the shadow open
    note_done(cpu);
    cpu.debug.disarm();
    const bool own_trap = end_step(cpu, frame, hsr);
    give_locks_back(cpu);
    return own_trap;
}

} // namespace mmioscope
