// Reads CMSIS-SVD files: peripherals with their registers, clusters, fields and named values.
#pragma once

#include "registers/description.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::registers {

/// The peripherals of `text`, with their addresses but without `compatible`. `derivedFrom`, `dim`
/// and inherited values are resolved. Throws Error (bad_input): one line, "FILE:LINE: ...".
std::vector<Description> read_svd(std::string_view text, const std::string& file);

} // namespace mmioscope::registers
