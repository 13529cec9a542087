// Finds the addresses of devices by the names that their trace has for them.
#pragma once

#include "control/words.hpp"
#include "wire/stream_head.hpp"

#include <set>
#include <string>

namespace mmioscope::control {

/// What `print` calls the devices, each once, in the order of their names.
std::set<std::string> device_names(const wire::StreamHead& head);

/// Every `reg` entry of the device that `name` names: a path, an alias, or another of
/// tree::names_of() if only one device has it. Throws Error (bad_input) that says what is like it.
std::vector<Place> find_device(const wire::StreamHead& head, const std::string& name);

} // namespace mmioscope::control
