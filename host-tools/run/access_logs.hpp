// QEMU's access log: QEMU writes one file, which is split into one for each boot at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::run {

class AccessLogs {
public:
    /// `fd` is the log at `path`, and belongs to the caller; -1 if there is none.
    AccessLogs(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

    /// The machine is stopped: what QEMU writes from now on belongs to the next boot.
    void end_boot();

    /// QEMU has ended: leaves the first boot in the log, and moves the others to FILE.2, FILE.3 ...
    /// Throws Error if one cannot be written.
    void split() const;

private:
    int fd_;
    std::string path_;
    std::vector<std::uint64_t> ends_; ///< of each boot, in bytes
};

} // namespace mmioscope::run
