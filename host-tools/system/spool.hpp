// Copies input that can be read only once to a file that can be mapped and read again.
#pragma once

#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"

#include <cstdint>
#include <string>

namespace mmioscope {

/// Opens `path` if it is an uncompressed file. Otherwise (standard input for "-", a pipe,
/// compressed data) copies it, at most `most` bytes, to a nameless file, which is positioned at its
/// start. Calls `passed` as it copies. Throws Error that names `path`, also for a device such as
/// /dev/zero, which may have no end.
FileDescriptor open_or_spool(const std::string& path, std::uint64_t most, const Passed& passed);

} // namespace mmioscope
