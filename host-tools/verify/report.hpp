// The result of a comparison as text.
#pragma once

#include "tree/device_names.hpp"
#include "verify/compare.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::verify {

/// The first differences, each with both sides; lines.
std::string difference_details(const Result& result, const logs::AccessLog& log,
                               std::span<const logs::Event> events, const tree::DeviceNames& names);

/// How the events looked in the log where not as they are, and what was left out; lines.
std::string notes(const Result& result, const logs::AccessLog& log);

/// "verify: 123 events compared, 2 differences: 1 missing, 1 value". `what`: were compared.
std::string verdict(const Result& result, std::string_view what = "events");

/// The same for programs, on one line: words and numbers in turn, all kinds of differences.
/// "log 100 trace 98 compared 98 missing 2 extra 0 ...". `lines` are those of the log that were
/// compared, `events` those of the trace.
std::string counts(const Result& result, std::size_t lines, std::size_t events);

} // namespace mmioscope::verify
