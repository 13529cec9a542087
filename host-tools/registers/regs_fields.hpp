// Fields of a register, as description files write them.
#pragma once

#include "registers/regs_line.hpp"

#include <vector>

namespace mmioscope::registers {

/// Appends what "[7:4] NAME 0=off 1=on" says; NAME may have indices: fields side by side.
void read_field(RegsLine& line, unsigned register_bits, std::vector<Field>& to);

} // namespace mmioscope::registers
