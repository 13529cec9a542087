// What good boots taught, kept as text: a line for each thing.
#pragma once

#include "diff/boot.hpp"
#include "diff/sites.hpp"

#include <span>
#include <string>
#include <vector>

namespace mmioscope::diff {

/// `boots`, whose sites are in `sites`.
std::string profile_text(std::span<const Boot> boots, const Sites& sites);

/// Reads them; their sites are added to `sites`. Throws Error (bad_input) that names `path` and the
/// line if the file is no profile.
std::vector<Boot> read_profile(const std::string& path, Sites& sites);

} // namespace mmioscope::diff
