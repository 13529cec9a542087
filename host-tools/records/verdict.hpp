// The report on a whole trace: the table of its devices, its other records, and the verdict.
#pragma once

#include "abi/container.hpp"
#include "records/losses.hpp"
#include "records/summary.hpp"
#include "system/error.hpp"
#include "table/table.hpp"
#include "tree/device_names.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mmioscope::trace {

/// What tables need to know about their trace.
struct ReportContext {
    const tree::DeviceNames* names; ///< never null
    std::uint64_t start = 0;        ///< CNTPCT that is printed as 0
    std::uint32_t frequency = 0;    ///< Hz; 0 if unknown: times are printed in ticks
};

/// A duration in seconds, with microseconds; in ticks if the frequency is unknown.
std::string format_duration(std::uint64_t ticks, const ReportContext& context);

/// The time since the start at `ticks`, in the same format.
std::string format_time(std::uint64_t ticks, const ReportContext& context);

/// For people: one row for each device, and one for the total.
table::Table device_table(const Summary& summary, const ReportContext& context);

/// The number of records of other types, as lines. `own` includes the hypervisor's own accesses and
/// counters.
std::string other_counts(const Summary& summary, std::span<const abi::Statistics> statistics,
                         bool own = true);

/// A line about events that were not printed during the recording; empty if all were.
std::string not_printed_note(std::uint64_t events);

/// How a recording ended, in words.
std::string_view ending_text(abi::Ending ending);

/// Why a trace with such an end is incomplete; empty: it may be complete.
std::string_view incomplete_ending(abi::Ending ending);

/// Whether the recorder stopped before the boot ended. The records up to that time may be complete.
bool is_cut(abi::Ending ending);

/// The one line that says whether the trace is complete, and whether it is cut. Events are the
/// guest's accesses. Readers print it last, after the line of Summary::policies().
/// `why_incomplete`: a reason other than losses, or empty. `ending`: nothing if it is unknown.
/// `times`: what is strange about times, or empty. `lost_others`: Lost::others.
std::string verdict(const Summary& summary, std::span<const abi::Loss> losses,
                    const std::string& why_incomplete, std::optional<abi::Ending> ending,
                    const std::string& times = "", std::optional<std::uint64_t> lost_others = 0);

/// For a column `lost_others` beside `lost`: Lost::others. Empty if nothing is lost, or if `lost`
/// counts records of any kind, because it is not known.
table::Cell others_cell(const Lost& lost);

/// The exit status of a command that recorded. The time limit is a failure.
Status status_of(abi::Ending ending, bool complete);

} // namespace mmioscope::trace
