// Reads the files of a recording that has several (record --rotate) one after the other.
#pragma once

#include "file/trace_reader.hpp"

#include <functional>
#include <string>
#include <vector>

namespace mmioscope::trace {

/// Makes `reader`, of the file `path`, continue with FILE.2 and so on while each file says that it
/// goes on, or has lost its end. The files must have these names, compressed or not, and be of the
/// same boot. Does not apply to pipes or the output of `export`. Call it before any other function
/// of the reader. `wait`: the files are still being written (see system/open_source.hpp); null:
/// they are complete.
void read_all_parts(TraceReader& reader, const std::string& path, std::function<bool()> wait = {});

/// The files that would follow `path` if each file said that it goes on. Empty if `path` is not a
/// regular file or not a trace.
std::vector<std::string> part_paths(const std::string& path);

/// Why the file in which `reader` goes on was not read, in words; empty if none is missing.
std::string missing_part_text(const TraceReader& reader);

} // namespace mmioscope::trace
