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

} // namespace mmioscope::run
