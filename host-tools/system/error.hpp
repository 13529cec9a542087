// Failures that end a command, and their exit statuses.
#pragma once

#include "system/escape.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace mmioscope {

/// Exit statuses of all commands.
enum class Status : int {
    fine = 0,
    failed = 1,       ///< a run that failed or lost something, a comparison with differences
    bad_input = 2,    ///< wrong usage, or an unreadable input
    untestable = 125, ///< of `diff`: an input is incomplete or unreadable (git bisect skips it)
    interrupted = 130 ///< Ctrl-C or SIGTERM
};

/// A failure that is reported to the user in one line.
class Error : public std::runtime_error {
public:
    Error(Status status, const std::string& text)
        : std::runtime_error(for_terminal(text)), status_(status) {}

    Status status() const { return status_; }

private:
    Status status_;
};

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
