// All the names that a device of a trace goes by.
#pragma once

#include "file/trace_reader.hpp"

#include <string>
#include <vector>

namespace mmioscope::filter {

/// For each region of the trace: its name, its path and each end of it, its node's name without the
/// address, its alias, and what it is compatible with, with and without the maker ("arm,pl011",
/// "pl011").
std::vector<std::vector<std::string>> device_aliases(const trace::TraceReader& reader);

} // namespace mmioscope::filter
