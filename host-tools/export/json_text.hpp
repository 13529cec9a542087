// Text as a string of JSON.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace mmioscope::exporting {

/// Appends `text` in quotes. What is no UTF-8 becomes U+FFFD, a character for each byte.
void append_json(fmt::memory_buffer& to, std::string_view text);

/// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none.
unsigned utf8_size(std::string_view text);

} // namespace mmioscope::exporting
