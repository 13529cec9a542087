// Reads description files; mmioscope-registers(5) has the syntax.
#pragma once

#include "registers/description.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::registers {

/// Parses the devices in `text`; errors refer to `file`, beginning at a line of it. Throws Error
/// (bad_input): one line, "FILE:LINE: ...".
std::vector<Description> read_regs(std::string_view text, const std::string& file,
                                   unsigned line = 1);

} // namespace mmioscope::registers
