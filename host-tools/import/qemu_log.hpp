// Converts the log that QEMU writes of accesses to a trace.
#pragma once

#include "abi/ring.hpp"
#include "import/importing.hpp"
#include "system/byte_source.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace mmioscope::importing {

/// Writes the trace to `fd`. Throws Error (bad_input) if the log has no accesses.
Report import_qemu_log(ByteSource& log, int fd);

// The regions of an import: named ranges of addresses that do not overlap.

class RegionList {
public:
    /// Adds a region, unless it overlaps another or there are too many. `path` is for its name,
    /// "/...".
    void add(std::uint64_t base, std::uint64_t size, const std::string& path, unsigned index = 0);

    /// Adds a mapping. finish() makes a region "map@BASE" of the parts that belong to no region,
    /// joined with adjacent ones.
    void add_mapping(std::uint64_t base, std::uint64_t size);

    /// Call it after the last add() and add_mapping().
    void finish();

    const std::vector<abi::RegionEntry>& regions() const { return regions_; }
    /// The region of an address; abi::no_device if there is none.
    std::uint16_t find(std::uint64_t address) const;
    std::uint64_t left_out() const { return left_out_; }

private:
    struct Range {
        std::uint64_t base;
        std::uint64_t end;
    };

    std::vector<Range> free_ranges() const;
    std::uint64_t end_of(std::size_t index) const;
    const abi::RegionEntry* at(std::uint64_t address) const;

    static constexpr std::size_t most = 4096;

    std::vector<abi::RegionEntry> regions_;
    std::map<std::uint64_t, std::uint16_t> by_base_;
    std::map<std::uint64_t, std::uint64_t> mappings_; ///< base to end
    std::uint64_t left_out_ = 0;
};

// Reads the log that QEMU writes with
//   -trace memory_region_ops_read -trace memory_region_ops_write -d guest_errors -D FILE
// and QEMU 10 with -d guest_errors,invalid_mem. In front of a line may stand its time, or whatever
// another backend writes there (docs/devel/tracing.rst):
//   760@1795825732.553041:memory_region_ops_read cpu 0 mr 0x55e0 addr 0x10 value 0x1 size 4 name
//   'a'
// QEMU before 6.1 writes no name.

// One device access, as in the trace and as in the log. Both are small, because a run has millions.

/// The kind of a line in QEMU's log.
enum class LineKind : std::uint8_t {
    access,     ///< a device model was called: CPU, value and absolute address are known
    unmodelled, ///< no device model has the address: CPU and value are unknown
    pc,         ///< from the log of PCs: CPU and PC are known, but no value
    rejected,   ///< a model refused size or alignment: no CPU, no value, the address is an offset
};

/// An access in QEMU's log.
struct Line {
    std::uint64_t address;
    std::uint64_t value;
    std::uint32_t number; ///< of the line in the log, from 1
    std::uint32_t pc;     ///< in the log of PCs
    std::uint16_t region; ///< index into AccessLog::regions
    std::int8_t cpu;      ///< -1: not known
    std::uint8_t size;    ///< bytes
    LineKind kind;
    bool write;
    bool widened = false; ///< the size may be the model's instead of the access's
    bool pieces = false;  ///< unaligned accesses are aligned pieces of the same size
};

/// An access in the trace.
struct Event {
    std::uint64_t address;
    std::uint64_t value;
    std::uint64_t time;     ///< CNTPCT
    std::uint32_t duration; ///< ticks
    std::uint32_t lock_sequence;
    std::uint32_t cpu_sequence;
    std::uint32_t pc;
    std::uint32_t number; ///< of the record in the trace, from 1
    std::uint16_t device;
    std::uint8_t cpu;
    std::uint8_t size;  ///< bytes
    std::uint8_t flags; ///< abi::flag_*
    bool write;
    bool own; ///< the hypervisor's own access
    bool value_known;
    bool guest_instruction; ///< the access was made by the guest itself, at `pc`
    bool uncertain;         ///< it need not have reached the bus
    bool walk;              ///< by table walks: any reads in the page at `address`
    bool again;             ///< its instruction took a fault before, an `uncertain` event
};

/// Means "no index".
inline constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

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
