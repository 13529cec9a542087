// A name with options: `latency(device=mmc, bits=5)`.
#pragma once

#include "filter/tokens.hpp"

#include <map>
#include <string>
#include <string_view>

namespace mmioscope::filter {

using CallOptions = std::map<std::string, std::string>;

struct Call {
    std::string name;
    CallOptions options;
};

/// Parses all of `text`, which messages call `subject`. Throws Error (bad_input) with the place of
/// the error.
Call parse_call(std::string_view subject, std::string_view text);

/// Takes the options in parentheses after a name, if any.
CallOptions parse_options(TokenStream& tokens);

} // namespace mmioscope::filter
