// Reads the log that QEMU writes with
//   -trace memory_region_ops_read -trace memory_region_ops_write -d guest_errors -D FILE
// and QEMU 10 with -d guest_errors,invalid_mem.
#pragma once

#include "logs/access.hpp"
#include "system/byte_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::logs {

struct AccessLog {
    std::vector<Line> lines;               ///< in the order of the bus
    std::vector<std::string> regions;      ///< QEMU's names of memory regions
    std::uint64_t of_stream = 0;           ///< the hypervisor's to the stream's UART: left out
    std::uint64_t not_by_cpu = 0;          ///< accesses that QEMU itself made (cpu -1): left out
    std::uint64_t other_lines = 0;         ///< other messages for guest_errors
    std::vector<std::uint32_t> unreadable; ///< line numbers; they begin like an access
};

/// Reads all of `source`. Throws Error if reading fails, and Error (bad_input) if there are too
/// many region names, or a line is too long.
AccessLog read_access_log(ByteSource& source);

} // namespace mmioscope::logs
