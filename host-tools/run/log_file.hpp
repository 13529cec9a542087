// A text file that another process is writing, read again and again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace mmioscope::run {

/// The last `lines` lines of `text`, each with its line end, without carriage returns.
std::string last_lines(const std::string& text, std::size_t lines);

class LogFile {
public:
    /// Watches the file behind `fd`, which stays the caller's.
    explicit LogFile(int fd) : fd_(fd) {}

    /// All of the text so far.
    const std::string& text();

    /// The text from the first whole line that begins with `start` on; nothing if there is
    /// none. Never looks at a line twice.
    std::optional<std::string> from_line(const std::string& start);

    /// True if a line contains `part`.
    bool contains(const std::string& part) { return text().find(part) != std::string::npos; }

private:
    int fd_;
    std::string text_;
    std::size_t searched_ = 0; ///< start of the first line from_line has not looked at
};

} // namespace mmioscope::run
