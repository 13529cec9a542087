// What the registers of a description are called.
#pragma once

#include "registers/description.hpp"

#include <string>
#include <vector>

namespace mmioscope::registers {

/// Names of at most this many are told.
inline constexpr std::size_t most_names = 65'536;

/// Of all registers of `description`, those of series, too; false if `to` has as many as that.
bool add_names(const Description& description, std::vector<std::string>& to);

} // namespace mmioscope::registers
