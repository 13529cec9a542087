// Checks that a trace file is complete, undamaged and consistent, and reports one line per problem.
#pragma once

#include "records/groups.hpp"
#include "records/losses.hpp"
#include "system/byte_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::trace {

struct CheckResult {
    std::vector<std::string> problems; ///< the first most_problems, and payloads that lack a part
    std::uint64_t more_problems = 0;
    std::uint64_t records = 0;
    std::uint64_t sections = 0;
    Lost lost;          ///< whether the file says so or not
    std::string times;  ///< what is strange about times; empty: nothing
    bool cut = false;   ///< it has no end
    bool lossy = false; ///< nothing is wrong except that the recording is incomplete

    bool sound() const { return problems.empty(); }
};

inline constexpr std::size_t most_problems = 50;

/// Reads all of `source` in constant memory. Throws Error (bad_input) if it is not a trace.
CheckResult check_trace(ByteSource& source);

} // namespace mmioscope::trace
