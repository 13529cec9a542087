// What is said at the end of a trace: the table of devices, other records, and the verdict.
#pragma once

#include "abi/container.hpp"
#include "lib/error.hpp"
#include "lib/line_format.hpp"
#include "lib/summary.hpp"

#include <span>
#include <string>

namespace mmioscope::trace {

/// The table of devices, and the total; several lines.
std::string device_table(const Summary& summary, const LineContext& context);

/// How many records there are of other types, and what the hypervisor counted; lines.
std::string other_counts(const Summary& summary, std::span<const abi::Statistics> statistics);

/// The one line that says whether the trace is all there. Events are the guest's accesses.
/// `why_incomplete`: another reason than losses, or empty.
std::string verdict(const Summary& summary, std::span<const abi::Loss> losses,
                    const std::string& why_incomplete);

/// A line about events that were not printed while they were recorded; empty if all were.
std::string not_printed_note(std::uint64_t events);

/// What a command that recorded returns.
Status status_of(abi::Ending ending, bool complete);

/// How a recording ended, in words.
std::string_view ending_text(abi::Ending ending);

} // namespace mmioscope::trace
