// Values and lists of a finding, in words.
#pragma once

#include "diff/sites.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::diff {

/// "0x100", with its fields, if the register is described and has some: "0x100 (Enable=1)".
std::string value_text(const Site& site, const Register* reg, std::uint64_t value);

/// "0x124f80 -> 0x9c40", with the fields that are others: "0x501 -> 0x500 (Enable 1 -> 0)".
std::string change_text(const Site& site, const Register* reg, std::uint64_t a, std::uint64_t b);

/// "once", "12 times".
std::string times_text(std::uint64_t count);

/// The first ones, separated by commas, and how many more there are.
std::string list_text(const std::vector<std::string>& items);

} // namespace mmioscope::diff
