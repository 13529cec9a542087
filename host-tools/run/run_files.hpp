// The files of a run. Files that the user did not name are temporary.
#pragma once

#include "run/plan.hpp"
#include "run/qemu_command.hpp"
#include "system/file_descriptor.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::run {

struct RunFiles {
    /// Creates them. Throws Error (bad_input) that names a file that it cannot create.
    explicit RunFiles(const Plan& plan);

    /// `monitor`: QEMU's end of its control socket, or -1.
    QemuFiles for_qemu(int ram, int monitor) const;

    /// QEMU has ended. False if a file that it writes has no room left, after a message that names
    /// it.
    bool whole(const Options& options) const;

    FileDescriptor tree;       ///< for the hypervisor
    FileDescriptor boot_image; ///< the hypervisor; none if QEMU takes its ELF file
    FileDescriptor trace;      ///< of the first boot
    FileDescriptor console_log;
    FileDescriptor hypervisor_log;
    FileDescriptor stream;     ///< none if not requested
    FileDescriptor unshared;   ///< the stream without the console, if they share a UART
    FileDescriptor access_log; ///< none if not requested
    FileDescriptor messages;   ///< QEMU's own

private:
    void inherit_all() const;
};

/// The trace file of the `boot`th boot. Throws Error (bad_input) if it cannot be written.
FileDescriptor trace_file(const Options& options, unsigned boot);

// QEMU's access log: QEMU writes one file, which is split into one for each boot at the end.

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
