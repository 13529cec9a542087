// Names of the files of which there is more than one.
#pragma once

#include <optional>
#include <string>

namespace mmioscope {

/// The name of the `number`th file: `path` itself, then with .2, .3 ... in front of its suffix.
std::string part_path(const std::string& path, unsigned number);

/// The name of the file behind `path`, the `number`th one, whatever the first one is called; with
/// .zst at the end of both. Nothing if `path` is not what the `number`th would be called.
std::optional<std::string> next_part_path(const std::string& path, unsigned number);

/// A line that says where a trace of so many `files` was saved; empty if it was not: no `path`.
std::string saved_note(const std::string& path, unsigned files);

} // namespace mmioscope
