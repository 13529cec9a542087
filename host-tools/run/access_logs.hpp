// QEMU's access log: QEMU writes one, which becomes one file for each boot when the boot is over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::run {

class AccessLogs {
public:
    /// `fd` is the log, called `path`, and stays the caller's; -1 if there is none.
    AccessLogs(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

    /// The machine stands still: what QEMU writes from now on is the next boot's.
    void end_boot();

    /// QEMU has ended: leaves the first boot in the log, and moves the others to FILE.2, FILE.3 ...
    /// Throws Error if one cannot be written.
    void split() const;

private:
    int fd_;
    std::string path_;
    std::vector<std::uint64_t> ends_; ///< of boots, in bytes
};

} // namespace mmioscope::run
