// Finds the addresses of devices by their names in the trace.
#pragma once

#include "control/words.hpp"
#include "wire/stream_head.hpp"

#include <set>
#include <string>

namespace mmioscope::control {

/// The devices' names in `print`, each once, sorted.
std::set<std::string> device_names(const wire::StreamHead& head);

/// Every `reg` entry of the device with this `name`: a path, an alias, or another of
/// tree::names_of() if only one device has it. Throws Error (bad_input) that suggests similar
/// names.
std::vector<Place> find_device(const wire::StreamHead& head, const std::string& name);

} // namespace mmioscope::control
