// Makes failures that end a command (mmioscope/error.hpp).
#pragma once

#include "mmioscope/error.hpp"
#include "system/escape.hpp"

#include <fmt/format.h>

#include <utility>

namespace mmioscope {

/// An unusable input. Formats the text like fmt::format.
template <typename... Args>
Error bad_input(fmt::format_string<Args...> text, Args&&... args) {
    return {Status::bad_input, fmt::format(text, std::forward<Args>(args)...)};
}

/// A failure although the inputs were good.
template <typename... Args>
Error failure(fmt::format_string<Args...> text, Args&&... args) {
    return {Status::failed, fmt::format(text, std::forward<Args>(args)...)};
}

} // namespace mmioscope
