// The files of a run. Files that the user did not name are temporary.
#pragma once

#include "run/plan.hpp"
#include "run/qemu_command.hpp"
#include "system/file_descriptor.hpp"

namespace mmioscope::run {

struct RunFiles {
    /// Creates them. Throws Error (bad_input) that names a file that it cannot create.
    explicit RunFiles(const Plan& plan);

    /// `monitor`: QEMU's end of its control socket, or -1.
    QemuFiles for_qemu(int ram, int monitor) const;

    /// QEMU has ended. False if a file that it writes has no room left, after a message that names it.
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

} // namespace mmioscope::run
