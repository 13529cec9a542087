// Reads a text file that another process is writing. Keeps little of it in memory, however long it
// is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::run {

/// The last `lines` lines of `text`, each with its line end, without carriage returns.
std::string last_lines(const std::string& text, std::size_t lines);

/// The same for the end of the file behind `fd`.
std::string last_lines(int fd, std::size_t lines);

/// The first `most` bytes of the file behind `fd`.
std::string beginning(int fd, std::size_t most);

/// Whether the file behind `fd` contains `part`.
bool log_has(int fd, std::string_view part);

class LogFile {
public:
    /// Watches the file behind `fd`, which belongs to the caller.
    explicit LogFile(int fd) : fd_(fd) {}

    /// The report: the text from the first complete line that begins with `start` on, as far as it
    /// is kept; nothing if there is none. Reads each line only once, and what is there by now:
    /// somebody may write without pause.
    std::optional<std::string> from_line(std::string_view start);

    /// Whether the report, which from_line() has found, contains `part` by now.
    bool report_has(std::string_view part);

private:
    bool read_more(std::uint64_t end);

    int fd_;
    std::uint64_t read_ = 0;
    std::string text_;   ///< an incomplete line; later the report
    bool found_ = false; ///< text_ is the report
};

// Reads the file that QEMU writes the guest's console into, for the trace.

class ConsoleFile {
public:
    /// `fd` belongs to the caller.
    explicit ConsoleFile(int fd) : fd_(fd), buffer_(64 * 1024) {}

    /// New bytes, or a part of them; valid until the next call. Ignores read errors: the trace is
    /// worth more than its console.
    std::span<const std::byte> read_more();

private:
    int fd_;
    std::uint64_t read_ = 0;
    std::vector<std::byte> buffer_;
};

} // namespace mmioscope::run
