// Turns a line of the disassembler into facts: size and direction from the mnemonic, the rest from
// the operands.
#pragma once

#include "facts.hpp"

#include <string_view>
#include <vector>

namespace mmioscope::decoder_test {

Facts read_line(std::string_view line, unsigned length);

/// The mnemonics that the words of `set` (ARM or Thumb-32) must hit.
std::vector<std::string_view> mnemonics_of(Set set);

} // namespace mmioscope::decoder_test
