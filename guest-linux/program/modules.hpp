// Where the kernel's modules lie, told to the tracer.
#pragma once

#include <string>
#include <vector>

namespace mmioscope::guest {

/// A marker's text for each module that is loaded (records/module_mark.hpp). Throws Error if they
/// cannot be read, or the kernel hides their addresses.
std::vector<std::string> module_marks();

} // namespace mmioscope::guest
