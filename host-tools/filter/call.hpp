// A name with options: `latency(device=mmc, bits=5)`.
#pragma once

#include "filter/token_stream.hpp"

#include <map>
#include <string>
#include <string_view>

namespace mmioscope::filter {

using CallOptions = std::map<std::string, std::string>;

struct Call {
    std::string name;
    CallOptions options;
};

/// All of `text`, which is a `subject`, as one; throws Error (bad_input) that says where it is
/// none.
Call parse_call(std::string_view subject, std::string_view text);

/// What stands behind the name: nothing, or options in parentheses.
CallOptions take_options(TokenStream& tokens);

/// As it is parsed again.
std::string written(const Call& call);

} // namespace mmioscope::filter
