// QEMU's argument vector for a board.
#pragma once

#include "run/board.hpp"
#include "run/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::run {

/// Files in memory and logs that QEMU inherits, by descriptor.
struct QemuFiles {
    int ram;
    int tree;
    int console_log;
    int hypervisor_log;
    int access_log; ///< -1: not written
};

/// The file behind an inherited descriptor, as a path.
std::string descriptor_path(int fd);

/// The arguments, the program's name first. `hypervisor` is the ELF's path.
std::vector<std::string> qemu_command(const Board& board, const Options& options,
                                      const std::string& hypervisor, const QemuFiles& files);

} // namespace mmioscope::run
