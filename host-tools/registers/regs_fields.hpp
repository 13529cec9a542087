// Fields of a register, as written in description files.
#pragma once

#include "registers/regs_line.hpp"

#include <vector>

namespace mmioscope::registers {

/// Appends the fields of "[7:4] NAME 0=off 1=on". NAME may have indices: then there are several
/// adjacent fields.
void read_field(RegsLine& line, unsigned register_bits, std::vector<Field>& to);

} // namespace mmioscope::registers
