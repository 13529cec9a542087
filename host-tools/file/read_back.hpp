// Reads a recording back: its verdict is of what is in the file, not of what was written.
#pragma once

#include "file/file_writer.hpp"

#include <memory>
#include <string>

namespace mmioscope::trace {

/// A finished trace file that its recorder still has open, and so locked.
struct FinishedFile {
    std::string path;
    std::shared_ptr<FollowedFile> file;
    Written written;
};

/// Throws Error (failed), which names the file, unless `finished.path` is still the file that was
/// recorded, and it has the bytes that were written. A device or a pipe is not read.
void read_back(const FinishedFile& finished);
/// The same of the file `fd`, which has been `written`.
void read_back(const std::string& path, int fd, const Written& written);

} // namespace mmioscope::trace
