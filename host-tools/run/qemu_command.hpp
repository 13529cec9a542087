// QEMU's argument vector for a board.
#pragma once

#include "run/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::run {

/// Files in memory and logs that QEMU inherits, by descriptor.
struct QemuFiles {
    int ram;
    int tree;
    int boot_image; ///< -1: the hypervisor's ELF file is what QEMU takes
    int console_log;
    int hypervisor_log;
    int stream;             ///< -1: there is none
    int access_log;         ///< -1: not written
    int monitor;            ///< socket; -1: the machine ends where the guest resets it
    int stream_socket = -1; ///< the stream's UART instead of `stream`; -1: not
};

/// The file behind an inherited descriptor, as a path.
std::string descriptor_path(int fd);

/// The arguments, the program's name first.
std::vector<std::string> qemu_command(const Plan& plan, const QemuFiles& files);

} // namespace mmioscope::run
