// From a line of the disassembler to facts: size and direction by the mnemonic, the rest by the
// operands.
#pragma once

#include "facts.hpp"

#include <string_view>
#include <vector>

namespace mmioscope::decoder_test {

Facts read_line(std::string_view line, unsigned length);

/// Those that the words of `set` (ARM or Thumb-32) must have hit.
std::vector<std::string_view> mnemonics_of(Set set);

} // namespace mmioscope::decoder_test
