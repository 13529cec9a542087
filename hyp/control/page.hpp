// The control page, which the guest reads and writes and nothing is behind (abi/control.hpp).
#pragma once

#include "engine/engine.hpp"

#include <optional>

namespace mmioscope {

/// Carries out an access to the control page. Nothing if it is elsewhere, if there is no such page,
/// or if it is no load or store of a whole word that HSR describes.
std::optional<Outcome> access_control_page(Cpu& cpu, Frame& frame, const DeviceAccess& access);

} // namespace mmioscope
