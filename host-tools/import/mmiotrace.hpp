// Converts an mmiotrace log to a trace.
#pragma once

#include "import/importing.hpp"
#include "system/byte_source.hpp"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace mmioscope::importing {

/// `first` and `second` provide the same log, each from its start: one pass finds the regions, the
/// other writes the accesses to `fd`. Throws Error (bad_input) if the log has nothing usable.
Report import_mmiotrace(ByteSource& first, ByteSource& second, int fd);

// A line of an mmiotrace log (Documentation/trace/mmiotrace.rst, version 20070824).

struct MmioAccess {     ///< R, W, UNKNOWN
    std::uint64_t time; ///< nanoseconds, like all times here
    std::uint64_t map;
    std::uint64_t physical;
    std::uint64_t value;
    std::uint64_t pc;
    int log2_size;
    bool write;
    bool known; ///< false: UNKNOWN, without size, direction and value
};
struct MmioMap {
    std::uint64_t map;
    std::uint64_t physical;
    std::uint64_t virt;
    std::uint64_t size;
};
struct MmioUnmap {
    std::uint64_t map;
};
struct MmioMark {
    std::uint64_t time;
    std::string_view text;
};
struct MmioLost { ///< what Linux writes for losses, mmiotrace or ftrace
    std::uint64_t count;
    bool known; ///< false: ftrace does not know the number
};
struct MmioDevice { ///< the mark that mmioscope's export writes for a device
    std::uint64_t base;
    std::uint64_t size;
    std::string_view name;
};
struct MmioPci {
    struct Bar {
        unsigned number;
        std::uint64_t base;
        std::uint64_t size;
    };
    unsigned bus;
    unsigned function;       ///< device << 3 | function
    std::uint64_t id;        ///< vendor << 16 | device
    std::vector<Bar> bars;   ///< only memory BARs
    std::string_view driver; ///< empty: none
    std::string_view rest;   ///< the rest of the line, after the place
};
struct MmioNothing {}; ///< VERSION, LSPCI, comments
struct MmioMalformed {
    std::string_view why;
};

using MmioLine = std::variant<MmioAccess, MmioMap, MmioUnmap, MmioMark, MmioLost, MmioDevice,
                              MmioPci, MmioNothing, MmioMalformed>;

/// Views are into `text`.
MmioLine parse_mmiotrace(std::string_view text);

} // namespace mmioscope::importing
