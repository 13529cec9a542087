// A child process that never outlives this one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::run {

/// How a process ended.
struct Exit {
    int code;   ///< exit status; -1 if a signal ended it
    int signal; ///< that signal, or 0

    bool fine() const { return code == 0; }
    std::string text() const; ///< "exit status 1", "signal 9 (Killed)"
};

/// Finds the program `name`: a path, or in $PATH. Throws Error (bad_input) that names QEMU's Debian
/// package if it cannot be executed.
std::string find_program(const std::string& name);

/// The thread that makes it must live as long: with that thread, the process is killed.
class Process {
public:
    /// Starts `program`. Its standard error, and its standard output unless `terminal`, go to the
    /// descriptor `messages`. With `terminal` it also uses this process's terminal.
    Process(const std::string& program, const std::vector<std::string>& arguments, int messages,
            bool terminal);
    /// Kills the process if it still runs.
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// How it ended; nothing while it runs.
    std::optional<Exit> poll();

    /// Waits for its end; nothing if it still runs after `patience`.
    std::optional<Exit> wait(std::chrono::milliseconds patience);

    /// Sends SIGTERM, and after `patience` SIGKILL. Waits for its end.
    Exit terminate(std::chrono::milliseconds patience);

private:
    pid_t pid_;
    std::optional<Exit> exit_;
};

// Reads a text file that another process is writing. Keeps little of it in memory, however long it
// is.

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
