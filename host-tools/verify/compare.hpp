// Compares a trace with QEMU's own log of the same run.
#pragma once

#include "abi/ring.hpp"
#include "import/access_log.hpp"
#include "verify/artefacts.hpp"
#include "verify/difference.hpp"
#include "verify/events.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::verify {

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

} // namespace mmioscope::verify
