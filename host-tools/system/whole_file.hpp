// Reads a whole file of limited size, such as those that people write or boot.
#pragma once

#include <string>

namespace mmioscope {

/// The bytes of `path`, a file, a device or a pipe. Throws Error (bad_input) that names it; if it
/// has more than 64 MiB it is no `what`.
std::string whole_file(const std::string& path, const char* what);

} // namespace mmioscope
