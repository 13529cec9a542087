// The control page (abi/control.hpp): there is no memory behind it; Hyp answers the guest's
// accesses.
#pragma once

#include "engine/engine.hpp"

#include <optional>

namespace mmioscope {

/// Carries out an access to the control page. Returns nothing if the access is elsewhere, if there
/// is no control page, or if it is not a load or store of one aligned word that HSR describes.
std::optional<Outcome> access_control_page(Cpu& cpu, Frame& frame, const DeviceAccess& access);

} // namespace mmioscope
