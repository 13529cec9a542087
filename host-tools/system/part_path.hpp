// Names of the files of a recording in several files.
#pragma once

#include <string>
#include <vector>

namespace mmioscope {

/// The name of the `number`th file: `path` itself, then with .2, .3 ... in front of its suffix.
std::string part_path(const std::string& path, unsigned number);

/// What the file behind `path`, the `number`th one, may be called, the likeliest first, whatever
/// the first one is called; either may have been compressed by zstd. Nothing if `path` is not what
/// the `number`th would be called.
std::vector<std::string> next_part_paths(const std::string& path, unsigned number);

/// A line that says where a trace of so many `files` was saved; empty if it was not: no `path`.
std::string saved_note(const std::string& path, unsigned files);

} // namespace mmioscope
