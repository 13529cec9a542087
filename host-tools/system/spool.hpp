// Copies input that can be read only once to a file that can be mapped and read again.
#pragma once

#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"

#include <string>

namespace mmioscope {

/// All that `source` has, in a nameless file of its own, which stands at its start. Throws Error;
/// what is wrong with the bytes is told with `name`.
FileDescriptor spooled(ByteSource& source, const std::string& name);

/// `path` if it is a file whose bytes are what is meant; else what comes of it (standard input for
/// "-", a pipe, something compressed), spooled. Throws Error that names `path`.
FileDescriptor open_or_spool(const std::string& path);

} // namespace mmioscope
