// Tells the tracer the addresses of the kernel's modules.
#pragma once

#include <string>
#include <vector>

namespace mmioscope::guest {

/// The text of a marker for each loaded module (records/module_mark.hpp). Throws Error if the
/// modules cannot be read, or if the kernel hides their addresses.
std::vector<std::string> module_marks();

} // namespace mmioscope::guest
