// Reads a whole file of limited size, such as files that people write or boot.
#pragma once

#include <string>

namespace mmioscope {

/// The bytes of `path`, a file, a device or a pipe. Throws Error (bad_input) that names it; above
/// 64 MiB the message says that it is not a `what`.
std::string whole_file(const std::string& path, const char* what);

/// Likewise, but decompressed if it is compressed (system/compressed_source.hpp).
std::string whole_text(const std::string& path, const char* what);

} // namespace mmioscope
