// A description file, whole.
#pragma once

#include <string>

namespace mmioscope::registers {

/// The bytes of `path`, at most 64 MiB. Throws Error (bad_input).
std::string text_of(const std::string& path);

} // namespace mmioscope::registers
