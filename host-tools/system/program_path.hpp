// Finds programs as a shell does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mmioscope {

/// Whether `path` is there and may be executed; errno says why not.
bool is_executable(const std::string& path);

/// Where in $PATH the program `name` is; nothing if it is in none of its folders.
std::optional<std::string> find_in_path(std::string_view name);

} // namespace mmioscope
