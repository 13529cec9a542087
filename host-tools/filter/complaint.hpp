// Error messages of filters, with the position of the error.
#pragma once

#include "system/error.hpp"

#include <cstddef>
#include <string_view>

namespace mmioscope::filter {

/// "SUBJECT: column 12: WHAT: ...reg==<here> && w", always one line. `at` counts from 0, columns
/// from 1.
Error complaint(std::string_view subject, std::string_view text, std::size_t at,
                std::string_view what);

} // namespace mmioscope::filter
