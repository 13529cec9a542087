// Reads description files: mmioscope-registers(5) has the syntax.
#pragma once

#include "registers/description.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::registers {

/// The devices of `text`, whose errors are told as of `file`, of which it begins with a line.
/// Throws Error (bad_input): one line, "FILE:LINE: ...".
std::vector<Description> read_regs(std::string_view text, const std::string& file,
                                   unsigned line = 1);

} // namespace mmioscope::registers
