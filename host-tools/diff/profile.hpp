// What good boots taught, kept as text: one fact per line.
#pragma once

#include "diff/boot.hpp"
#include "diff/sites.hpp"

#include <span>
#include <string>
#include <vector>

namespace mmioscope::diff {

/// The profile of `boots`, whose sites are in `sites`.
std::string profile_text(std::span<const Boot> boots, const Sites& sites);

/// Reads a profile, and adds its sites to `sites`. If the file is not a profile, throws Error
/// (bad_input) with `path` and the line.
std::vector<Boot> read_profile(const std::string& path, Sites& sites);

} // namespace mmioscope::diff
