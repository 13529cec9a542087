// A child process that never outlives this one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
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

} // namespace mmioscope::run
