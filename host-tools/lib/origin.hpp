// When a file was recorded, and by which command.
#pragma once

#include <span>
#include <string>

namespace mmioscope::trace {

/// Arguments, the program's name first, as one line that a shell takes for the same.
std::string command_text(std::span<const char* const> arguments);

/// Lines of a trace's text: "recorded", now, UTC in ISO 8601, and "recorded-by", the command.
/// Nothing if that is empty: nobody's.
std::string origin_lines(const std::string& command);

} // namespace mmioscope::trace
