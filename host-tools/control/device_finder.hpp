// Where devices are, by the names their trace has for them.
#pragma once

#include "control/words.hpp"
#include "wire/stream_head.hpp"

namespace mmioscope::control {

/// Every `reg` entry of the device that `name` names: a path, an alias, or another of
/// tree::names_of() if only one device has it. Throws Error (bad_input) that says what is like it.
std::vector<Place> find_device(const wire::StreamHead& head, const std::string& name);

} // namespace mmioscope::control
