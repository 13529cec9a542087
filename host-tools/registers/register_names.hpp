// The names of a description's registers.
#pragma once

#include "registers/description.hpp"

#include <string>
#include <vector>

namespace mmioscope::registers {

/// Limit of the number of names.
inline constexpr std::size_t most_names = 65'536;

/// Adds the names of all registers of `description`, including arrays; false if `to` reaches the
/// limit.
bool add_names(const Description& description, std::vector<std::string>& to);

} // namespace mmioscope::registers
