// Opens the input of a command: a file or standard input, compressed or not.
#pragma once

#include "system/byte_source.hpp"

#include <functional>
#include <memory>
#include <string>

namespace mmioscope {

/// Opens `path`; "-" is standard input. What begins as a zstd stream is decompressed as it is read.
/// Throws Error (bad_input) that names `path` and the reason.
std::unique_ptr<ByteSource> open_source(const std::string& path);

/// The same of a descriptor, which stays the caller's.
std::unique_ptr<ByteSource> open_source(int fd);

/// The same of what somebody is still writing; `wait` as of system/growing_source.hpp.
std::unique_ptr<ByteSource> open_growing_source(const std::string& path,
                                                std::function<bool()> wait);

} // namespace mmioscope
