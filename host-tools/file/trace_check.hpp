// Checks that a trace file is whole, undamaged and consistent, and reports one line per problem.
#pragma once

#include "system/byte_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::trace {

struct CheckResult {
    std::vector<std::string> problems; ///< the first most_problems
    std::uint64_t more_problems = 0;
    std::uint64_t records = 0;
    std::uint64_t sections = 0;
    std::uint64_t lost = 0; ///< records that are missing, told by the file or not
    bool cut = false;       ///< it has no end
    bool lossy = false;     ///< nothing is wrong but that records were lost when it was recorded

    bool sound() const { return problems.empty(); }
};

inline constexpr std::size_t most_problems = 50;

/// Reads all of `source`, in constant memory. Throws Error (bad_input) if it is no trace.
CheckResult check_trace(ByteSource& source);

} // namespace mmioscope::trace
