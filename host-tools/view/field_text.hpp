// The fields of a register's value in words.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <string>

namespace mmioscope::view {

/// "TXFE RXFE BUSY WLEN=8bit": single bits by their names where they are set, wider fields where
/// they are not 0 or have a name for it.
std::string field_text(const Register& reg, std::uint64_t value);

} // namespace mmioscope::view
