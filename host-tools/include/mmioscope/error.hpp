// Failures, and what a program may do about them.
#pragma once

#include <stdexcept>
#include <string>

namespace mmioscope {

/// Exit statuses of all commands, and the kinds of Error.
enum class Status : int {
    fine = 0,
    failed = 1,       ///< a run that failed or lost something, a comparison with differences
    bad_input = 2,    ///< wrong usage, or an unreadable input
    untestable = 125, ///< of `diff`: an input is incomplete or unreadable (git bisect skips it)
    interrupted = 130 ///< Ctrl-C or SIGTERM
};

/// A failure in one line, without control characters. bad_input: another file or option is needed;
/// failed: the inputs were good.
class Error : public std::runtime_error {
public:
    Error(Status status, const std::string& text);

    Status status() const { return status_; }

private:
    Status status_;
};

} // namespace mmioscope
