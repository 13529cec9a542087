// Text for people: messages on standard error, and the last lines of a recording on standard
// output.
#pragma once

#include "system/error.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace mmioscope {

/// Writes `text` to standard error. What cannot be written is lost, and nothing else: no error, no
/// signal (a closed pipe), and errno stays.
void write_message(std::string_view text) noexcept;

/// Formats a message like fmt::format, and writes it.
template <typename... Args>
void print_message(fmt::format_string<Args...> text, Args&&... args) {
    write_message(fmt::format(text, std::forward<Args>(args)...));
}

/// Appends `text` to standard output, while something more important goes on: throws nothing.
/// status_of_output() says at the end whether all was written.
void write_output(std::string_view text) noexcept;

/// Formats text like fmt::format, and appends it to standard output.
template <typename... Args>
void print_output(fmt::format_string<Args...> text, Args&&... args) {
    write_output(fmt::format(text, std::forward<Args>(args)...));
}

/// The last text is written: `status`, but Status::failed in place of Status::fine if standard
/// output did not take everything; with a message, unless it is a pipe that nobody reads.
Status status_of_output(Status status);

// The progress of a recording, as one line on standard error if that is a terminal.

class ProgressLine {
public:
    /// Visible only on a terminal, and only if `wanted`: not if other output goes there.
    explicit ProgressLine(bool wanted);

    /// Shows `seconds` of wall time since the start, and the result of `text`, at most twice a
    /// second.
    void show(double seconds, const std::function<std::string()>& text);
    void clear();

private:
    bool visible_;
    double next_ = 0;
};

} // namespace mmioscope
