// Formats the result of a comparison.
#pragma once

#include "tree/device_names.hpp"
#include "verify/compare.hpp"

#include <span>
#include <string>
#include <string_view>

namespace mmioscope::verify {

/// The first differences, each with both sides, as lines.
std::string difference_details(const Result& result, const importing::AccessLog& log,
                               std::span<const importing::Event> events,
                               const tree::DeviceNames& names);

/// As lines: how events appeared differently in the log, and what was left out.
std::string notes(const Result& result, const importing::AccessLog& log);

/// "verify: 123 events compared, 2 differences: 1 missing, 1 value". `what` was compared.
std::string verdict(const Result& result, std::string_view what = "events");

/// For programs, one line of alternating words and numbers with all kinds of differences: "log 100
/// trace 98 compared 98 missing 2 extra 0 ...". `lines` and `events` are the numbers of those of
/// the log and the trace that were compared.
std::string counts(const Result& result, std::size_t lines, std::size_t events);

} // namespace mmioscope::verify
