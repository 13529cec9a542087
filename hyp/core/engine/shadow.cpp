#include "engine/shadow.hpp"

#include "base/check.hpp"
#include "engine/reexecution.hpp"

namespace mmioscope {

Outcome ShadowEngine::carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) {
    if (!begin_access(cpu, frame, access)) return Outcome::again;
    begin_step(cpu, frame, access);
    cpu.view.open_shadow();
    return Outcome::again;
}

bool ShadowEngine::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    cpu.view.close_shadow(); // first of all: nothing below may run with the shadow open
    const bool own_trap = end_step(cpu, frame, hsr);
    cpu.locks.release();
    return own_trap;
}

// The guest must never run with the shadow table open, or a lock held, unless a step is armed.
void ShadowEngine::check_way_back(const Cpu& cpu) const {
    check(cpu.view.shadow_open() == cpu.step.armed, "shadow table and step disagree");
    check(cpu.locks.held() == cpu.step.armed, "lock and step disagree");
}

} // namespace mmioscope
