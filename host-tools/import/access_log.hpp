// Reads the log that QEMU writes with
//   -trace memory_region_ops_read -trace memory_region_ops_write -d guest_errors -D FILE
// and QEMU 10 with -d guest_errors,invalid_mem. In front of a line may stand its time, or whatever
// another backend writes there (docs/devel/tracing.rst):
//   760@1795825732.553041:memory_region_ops_read cpu 0 mr 0x55e0 addr 0x10 value 0x1 size 4 name
//   'a'
// QEMU before 6.1 writes no name.
#pragma once

#include "import/access.hpp"
#include "system/byte_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::importing {

struct AccessLog {
    std::vector<Line> lines;               ///< in the order of the bus
    std::vector<std::uint64_t> times;      ///< of each of `lines`, us since 1970; empty: none
    std::vector<std::string> regions;      ///< QEMU's names of memory regions, or "mr-POINTER"
    std::uint64_t of_stream = 0;           ///< the hypervisor's to the stream's UART: left out
    std::uint64_t not_by_cpu = 0;          ///< accesses that QEMU itself made (cpu -1): left out
    std::uint64_t other_lines = 0;         ///< other messages for guest_errors
    std::vector<std::uint32_t> unreadable; ///< line numbers; they begin like an access
};

/// What makes a region: its name, or its address in QEMU's memory, too.
enum class Regions { by_name, each };

/// Reads all of `source`. Throws Error if reading fails, and Error (bad_input) if there are too
/// many regions, or a line is too long.
AccessLog read_access_log(ByteSource& source, Regions regions);
AccessLog read_access_log(ByteSource& source); ///< Regions::by_name

} // namespace mmioscope::importing
