// From the text of a filter to its tree.
//
//     any      = all { ("||" | "or") all }
//     all      = one { ("&&" | "and") one }
//     one      = ("!" | "not") one | "(" any ")" | "@" NAME [ "(" options ")" ] | test
//     test     = what [ "&" number ] [ compare value | "=~" text | "!~" text | ["not"] "in" list ]
//     what     = FIELD | REGISTER.BITS | "field" "(" [ REGISTER "," ] BITS ")"
//     list     = item | "(" item { "," item } ")"
//     item     = value [ ".." value ]
#pragma once

#include "filter/call.hpp"
#include "filter/expression.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace mmioscope::filter {

struct Settings {
    /// Makes what `@name(options)` stands for; throws Error that says why it cannot. Empty: there
    /// are none.
    std::function<std::function<bool(const Event&)>(const std::string& name,
                                                    const CallOptions& options)>
        custom = {};
    bool code = true;          ///< false: fields that tell of code addresses are refused
    unsigned most_depth = 100; ///< of parentheses and negations in one another
};

/// Throws Error (bad_input) that says where `text` is no filter.
Node parse(std::string_view text, const Settings& settings);

} // namespace mmioscope::filter
