// Who makes an access: Hyp does what HSR describes completely, a single aligned load or store
// without writeback, if the engine is emulation, or if it makes no record; the guest does all else,
// in a step. Hyp's access is privileged on the bus, also when it stands for one of User mode (PL0).
// Those are counted, or left to the guest if the board has something that tells the two apart
// (mmioscope,user-firewall).
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

/// Whether Hyp can do cpu.trapped.access.
[[nodiscard]] bool can_emulate(Cpu& cpu, const Frame& frame);
/// Does it, if it can; otherwise the guest does. As DeviceOps::make().
Outcome emulate(Cpu& cpu, Frame& frame);

} // namespace mmioscope
