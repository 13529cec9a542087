// Copies input that can be read only once to a file that can be mapped and read again.
#pragma once

#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"

#include <string>

namespace mmioscope {

/// Copies all of `source` to a nameless file, positioned at its start. Throws Error; errors in the
/// content have `name`.
FileDescriptor spooled(ByteSource& source, const std::string& name);

/// Opens `path` if it is an uncompressed file; otherwise spools it (standard input for "-", a pipe,
/// compressed data). Throws Error that names `path`.
FileDescriptor open_or_spool(const std::string& path);

} // namespace mmioscope
