// What good boots taught, kept as text: one fact per line.
#pragma once

#include "diff/boot.hpp"

#include <span>
#include <string>
#include <vector>

namespace mmioscope::diff {

/// The profile of `boots`, whose sites and devices are in `sites` and `devices`.
std::string profile_text(std::span<const Boot> boots, const Sites& sites, const Pairing& devices);

/// Reads a profile, and adds its sites and devices to `sites` and `devices`. If the file is not a
/// profile, throws Error (bad_input) with `path` and the line.
std::vector<Boot> read_profile(const std::string& path, Sites& sites, Pairing& devices);

} // namespace mmioscope::diff
