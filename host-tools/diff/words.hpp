// Values and lists of a finding, in words.
#pragma once

#include "diff/sites.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::diff {

/// "0x100 (Enable=1)": the fields follow if they are known.
std::string value_text(const Site& site, const Register* reg, std::uint64_t value);

/// "0x501 -> 0x500 (Enable 1 -> 0)": the fields that differ follow if they are known.
std::string change_text(const Site& site, const Register* reg, std::uint64_t a, std::uint64_t b);

/// "once", "12 times".
std::string times_text(std::uint64_t count);

/// The first few, separated by commas, and the number of the others.
std::string list_text(const std::vector<std::string>& items);

} // namespace mmioscope::diff
