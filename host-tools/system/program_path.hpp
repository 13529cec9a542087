// Finds programs like a shell.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mmioscope {

/// Whether `path` exists and is executable; errno has the reason if not.
bool is_executable(const std::string& path);

/// The path of the program `name` in $PATH; nothing if no folder has it.
std::optional<std::string> find_in_path(std::string_view name);

} // namespace mmioscope
