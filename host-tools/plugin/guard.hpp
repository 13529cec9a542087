// Calls plug-ins, and turns whatever they throw into one line that names the plug-in.
#pragma once

#include "system/error.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace mmioscope::plugin {

/// Calls `call`. If it throws anything, throws Error (bad_input) with one line, "WHO: WHAT".
template <typename Call>
auto guarded(const std::string& who, Call&& call) {
    std::string what;
    try {
        return std::forward<Call>(call)();
    } catch (const std::exception& error) {
        what = error.what();
    } catch (...) {
        what = "threw something other than a std::exception";
    }
    std::replace_if(
        what.begin(), what.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    throw bad_input("{}: {}", who, what);
}

} // namespace mmioscope::plugin
