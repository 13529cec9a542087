// Reads the files of a recording in several files (record --rotate) one after the other.
#pragma once

#include "file/trace_reader.hpp"

#include <functional>
#include <string>
#include <vector>

namespace mmioscope::trace {

/// Lets `reader`, of the file `path`, go on with FILE.2 and so on, as far as the files say that
/// they go on, or have lost their end, are called so, compressed or not, and are of the same boot.
/// Pipes and what `export` wrote do not. To be called before anything else of the reader. `wait`:
/// they are still being written; as of system/growing_source.hpp. Null: they are there.
void read_all_parts(TraceReader& reader, const std::string& path, std::function<bool()> wait = {});

/// The files that a reader of `path` would go on in, if each said that it goes on. None if `path`
/// is no file, or no trace.
std::vector<std::string> part_paths(const std::string& path);

/// That the file in which `reader` goes on was not read, and why, in words; empty if none is
/// missing.
std::string missing_part_text(const TraceReader& reader);

} // namespace mmioscope::trace
