#include "engine/shadow.hpp"

#include "arch/psr.hpp"
#include "engine/emulation.hpp"
#include "engine/reexecution.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

namespace {

/// Whether Hyp makes the access itself, which costs less: it makes no record, and has the same
/// privilege and memory type on the bus. Memory is the guest's to map, and may be in its cache.
bool needs_no_step(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    if (access.recorded || arch::mode_of(frame.psr) == arch::Mode::usr) return false;
    const abi::RegionEntry& region = cpu.machine->regions[access.span->region];
    return (region.flags & abi::region_memory) == 0 && can_emulate(cpu, frame);
}

} // namespace

Outcome ShadowEngine::carry_out(Cpu& cpu, Frame& frame) {
    if (needs_no_step(cpu, frame)) return emulate(cpu, frame);
    return begin_step(cpu, frame, *cpu.shadow);
}

bool ShadowEngine::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    return end_step(cpu, frame, hsr);
}

} // namespace mmioscope
