// Compares a trace with QEMU's own log of the same run.
#pragma once

#include "abi/ring.hpp"
#include "import/qemu_log.hpp"
#include "verify/artefacts.hpp"
#include "verify/events.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mmioscope::verify {

// The kinds of difference that verify finds.

enum class Kind : std::uint8_t {
    missing, ///< in the log but not in the trace
    extra,   ///< in the trace but not in the log
    value,
    size,
    direction,
    address,
    cpu,
    pc,
    order,      ///< in both, at different places
    unreadable, ///< an unreadable line of the log that begins like an access
};
inline constexpr std::size_t kind_count = 10;

constexpr std::string_view kind_text(Kind kind) {
    constexpr std::array<std::string_view, kind_count> words = {
        "missing", "extra", "value", "size",  "direction",
        "address", "cpu",   "pc",    "order", "unreadable"};
    return words[static_cast<std::size_t>(kind)];
}

/// `line` and `event` are indices; `nowhere` for a side without one.
struct Difference {
    Kind kind;
    std::uint32_t line;
    std::uint32_t event;
};

struct Result {
    std::uint64_t compared = 0;          ///< events found in both
    std::uint64_t behind_end = 0;        ///< lines after the machine's end, which no trace can have
    std::uint64_t unfinished = 0;        ///< lines of accesses in whose middle the machine ended
    std::uint64_t unselected = 0;        ///< lines of places that were not traced
    std::uint64_t rom_reads = 0;         ///< events that QEMU does not log
    std::vector<Difference> differences; ///< in the order of the trace, then of the log
    std::array<std::uint64_t, kind_count> by_kind{};
    std::array<std::uint64_t, artefact_count> artefacts{};
};

void add(Result& result, const std::vector<Difference>& differences);
/// Adds the unreadable lines, and sorts the differences.
void finish(Result& result, const importing::AccessLog& log);

/// Compares event by event. Changes `log` only in lines with relative addresses.
Result compare(importing::AccessLog& log, std::span<const importing::Event> events,
               std::span<const abi::RegionEntry> regions,
               std::span<const trace::UnfinishedAccess> unfinished = {});

// Compares the PCs of all accesses, as seen by a plugin in QEMU (tests/qemu/pc_log.c), with the
// trace's.
//
// A line is "CPU R|W SIZE ADDRESS PC". Lines of one CPU are in order; those of different CPUs are
// not. There are no values, and all accesses have a CPU, even those that reach no device model.

/// Reads all of `source`. Throws Error if reading fails.
importing::AccessLog read_pc_log(ByteSource& source);

/// Compares CPU, direction, size and address of all events, and the PC of those made by a guest
/// instruction. `compared` counts the PCs.
Result compare_pcs(importing::AccessLog& log, std::span<const importing::Event> events,
                   std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
