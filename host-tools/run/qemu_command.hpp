// QEMU's argument vector for a board.
#pragma once

#include "run/plan.hpp"

#include <string>
#include <vector>

namespace mmioscope::run {

/// Files in memory and logs that QEMU inherits, by descriptor.
struct QemuFiles {
    int ram;
    int tree;
    int boot_image; ///< -1: QEMU takes the hypervisor's ELF file
    int console_log;
    int hypervisor_log;
    int stream;             ///< -1: none
    int access_log;         ///< -1: none
    int monitor;            ///< socket; -1: the machine ends when the guest resets it
    int stream_socket = -1; ///< used for the stream's UART instead of `stream`; -1: none
};

/// The file behind an inherited descriptor, as a path.
std::string descriptor_path(int fd);

/// The arguments, beginning with the program's name.
std::vector<std::string> qemu_command(const Plan& plan, const QemuFiles& files);

// Asks a QEMU program what it is.

/// "7.2.22 (Debian 1:7.2+dfsg-7)", from `qemu --version`; empty if it does not answer in two
/// seconds.
std::string qemu_version(const std::string& qemu);

/// What its -d calls the accesses that no device model takes: "guest_errors", and for QEMU 10
/// "invalid_mem", too.
std::string refused_accesses(const std::string& qemu);

} // namespace mmioscope::run
