// A trace's reader, whose words name the path that it was given.
#pragma once

#include "lib/trace_reader.hpp"

#include <memory>
#include <string>

namespace mmioscope::trace {

/// Tells of damage on standard error, a line each, with `path` in front.
TraceReader::Report tell_of(const std::string& path);

/// Reads `source` up to the first records. Throws Error (bad_input) that names `path` if it is no
/// trace.
std::unique_ptr<TraceReader> read_trace(ByteSource& source, const std::string& path,
                                        const TraceReader::Report& report,
                                        const TraceReader::Others& others = {});

} // namespace mmioscope::trace
