// What is wrong with a filter, and where.
#pragma once

#include "system/error.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::filter {

/// "SUBJECT: column 12: WHAT: ...reg==<here> && w": one line whatever the text holds. `at` counts
/// from 0, columns from 1.
Error complaint(std::string_view subject, std::string_view text, std::size_t at,
                std::string_view what);

/// ", did you mean 'value'?" with the one of `names` that is nearest to `word`; empty if none is.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

} // namespace mmioscope::filter
