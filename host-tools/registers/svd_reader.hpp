// Reads CMSIS-SVD files: peripherals with their registers, clusters, fields and named values.
#pragma once

#include "registers/description.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::registers {

/// The peripherals of `text`, with their addresses but without `compatible`. `derivedFrom`, `dim`
/// and inherited values are resolved; a register whose values have other names when written is
/// there twice, once for each direction. What cannot be used is left out, the rest stays. Throws
/// Error (bad_input), one line, "FILE:LINE: ...", if this is no SVD file, no peripheral of it can
/// be used, or it expands to more than SvdQuota allows.
std::vector<Description> read_svd(std::string_view text, const std::string& file,
                                  LeftOut& left_out);

} // namespace mmioscope::registers
