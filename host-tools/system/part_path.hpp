// Names of the files of a recording that has several.
#pragma once

#include <string>
#include <vector>

namespace mmioscope {

/// The name of the `number`th file: `path` itself, then with .2, .3 ... before its suffix.
std::string part_path(const std::string& path, unsigned number);

/// Possible names of the file after `path`, which is the `number`th, the likeliest first, for any
/// name of the first file; both may be compressed with zstd. Empty if `path` is not a possible name
/// of the `number`th file.
std::vector<std::string> next_part_paths(const std::string& path, unsigned number);

/// A line that says where a trace in `files` files was saved; empty without a `path`: not saved.
std::string saved_note(const std::string& path, unsigned files);

} // namespace mmioscope
