// Addresses of the guest's kernel modules, from /proc/modules.
#pragma once

#include "symbols/symbols.hpp"

#include <string_view>
#include <vector>

namespace mmioscope::symbols {

/// Parses lines of `name size references users state address`. Throws Error (bad_input) that names
/// the line, not the file; also if the kernel hid the addresses.
std::vector<ModuleSpan> read_modules(std::string_view text);

} // namespace mmioscope::symbols
