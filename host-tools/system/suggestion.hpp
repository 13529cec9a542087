// Suggestions for mistyped words.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mmioscope {

/// ", did you mean 'value'?" with the one of `names` that is closest to `word`; empty if none is
/// close.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);
std::string suggestion(std::string_view word, std::span<const std::string> names);

} // namespace mmioscope
