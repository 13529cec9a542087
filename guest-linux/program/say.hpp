// Messages on standard error.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace mmioscope::guest {

inline void say(const std::string& line) {
    fmt::print(stderr, "mmioscope-guest: {}\n", line);
}

} // namespace mmioscope::guest
