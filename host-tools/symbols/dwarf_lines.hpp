// Lines of source code by DWARF.
#pragma once

#include "mmioscope/event.hpp"

#include <elfutils/libdwfl.h>

#include <vector>

namespace mmioscope::symbols {

/// The line at `address` of `file`, and those from where functions were inlined there, innermost
/// first; empty without DWARF for it.
std::vector<SourceLine> dwarf_lines(Dwfl_Module* file, Dwarf_Addr address);

} // namespace mmioscope::symbols
