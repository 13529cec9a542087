// Parses the text of a filter into its tree.
//
//     any      = all { ("||" | "or") all }
//     all      = one { ("&&" | "and") one }
//     one      = ("!" | "not") one | "(" any ")" | "@" NAME [ "(" options ")" ] | test
//     test     = what [ "&" number ] [ compare value | "=~" text | "!~" text | ["not"] "in" list ]
//     what     = FIELD | REGISTER.BITS | "field" "(" [ REGISTER "," ] BITS ")"
//     list     = item | "(" item { "," item } ")"
//     item     = value [ ".." value ]
#pragma once

#include "filter/expression.hpp"
#include "filter/tokens.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace mmioscope::filter {

struct Settings {
    /// Makes the test for `@name(options)`. Throws Error that says why it cannot. Empty: there are
    /// no such tests.
    std::function<std::function<bool(const Event&)>(const std::string& name,
                                                    const CallOptions& options)>
        custom = {};
    bool code = true;          ///< false: refuse fields with code addresses
    unsigned most_depth = 100; ///< limit for nested parentheses and negations
};

/// Throws Error (bad_input) with the place of the error if `text` is not a filter.
Node parse(std::string_view text, const Settings& settings);

} // namespace mmioscope::filter
