// Messages on standard error.
#pragma once

#include "system/message.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace mmioscope::guest {

inline void say(const std::string& line) {
    print_message("mmioscope-guest: {}\n", line);
}

} // namespace mmioscope::guest
