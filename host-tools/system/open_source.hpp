// Opens the input of a command: a file or standard input, compressed or not.
#pragma once

#include "system/byte_source.hpp"

#include <functional>
#include <memory>
#include <string>

namespace mmioscope {

/// Whether `path` can be read only once: standard input, a pipe or a device. False if there is no
/// such file.
bool reads_once(const std::string& path);

/// Opens `path`; "-" is standard input. Decompresses while
/// reading (system/compressed_source.hpp). Throws Error (bad_input)
/// with `path` and the reason.
std::unique_ptr<ByteSource> open_source(const std::string& path);

/// Likewise for a descriptor, which belongs to the caller.
std::unique_ptr<ByteSource> open_source(int fd);

/// Likewise for a file that is still being written; `wait` as in system/open_source.hpp.
std::unique_ptr<ByteSource> open_growing_source(const std::string& path,
                                                std::function<bool()> wait);

} // namespace mmioscope
