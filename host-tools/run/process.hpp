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

/// The program `name` stands for: a path, or found in $PATH. Throws Error (bad_input), naming
/// the Debian package of QEMU, if there is none that can be executed.
std::string find_program(const std::string& name);

class Process {
public:
    /// Starts `program`. Its standard error, and its standard output unless `terminal`, go to
    /// the descriptor `messages`. With `terminal` it has this process's terminal, too.
    Process(const std::string& program, const std::vector<std::string>& arguments, int messages,
            bool terminal);
    /// Ends the process at once, if it still runs.
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// How it ended; nothing while it runs.
    std::optional<Exit> poll();

    /// Waits for its end; nothing if it still runs after so long.
    std::optional<Exit> wait(std::chrono::milliseconds patience);

    /// Asks it to end (SIGTERM), and after `patience` ends it (SIGKILL). Waits for its end.
    Exit terminate(std::chrono::milliseconds patience);

private:
    pid_t pid_;
    std::optional<Exit> exit_;
};

} // namespace mmioscope::run
