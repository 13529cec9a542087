#include "view/print_output.hpp"

#include "system/error.hpp"
#include "system/signals.hpp"
#include "system/user_cache.hpp"
#include "table/table.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace mmioscope::view {

Output::Output(const std::string& path, Appears appears) : path_(path) {
    if (!path.empty() && path != "-") {
        if (appears == Appears::whole) {
            whole_.emplace(path);
        }
        file_ = open(whole_ ? FileDescriptor(::fcntl(whole_->fd(), F_DUPFD_CLOEXEC, 0))
                            : create_output(path));
    }
    terminal_ = ::isatty(::fileno(file_)) != 0;
    width_ = table::width_of(::fileno(file_));
}

std::FILE* Output::open(FileDescriptor file) {
    std::FILE* const stream = file ? ::fdopen(file.get(), "w") : nullptr;
    if (stream == nullptr) {
        throw failure("cannot open a file: {}", std::strerror(errno));
    }
    file.release();
    return stream;
}

Output::~Output() {
    if (file_ != stdout) {
        std::fclose(file_);
    }
}

namespace {

// errno of an earlier write is lost: the next one usually fails for the same reason.
int why_it_fails(std::FILE* file) {
    std::clearerr(file);
    const bool works = std::fputc('\n', file) != EOF && std::fflush(file) == 0;
    return works ? 0 : errno;
}

bool reader_gone(int fd) {
    pollfd watched{fd, POLLOUT, 0};
    return ::poll(&watched, 1, 0) == 1 && (watched.revents & POLLERR) != 0;
}

} // namespace

void Output::close() {
    errno = 0;
    const bool whole = std::fflush(file_) == 0 && std::ferror(file_) == 0;
    if (whole) {
        if (whole_) {
            whole_->finish();
        }
        return;
    }
    const int why_now = errno;
    if (reader_gone(::fileno(file_))) { // if the parent process ignores SIGPIPE
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    }
    const int why = why_now != 0 ? why_now : why_it_fails(file_);
    throw failure("cannot write {}: {}", file_ == stdout ? "standard output" : path_,
                  why != 0 ? std::strerror(why) : "an earlier write failed");
}

namespace {

volatile pid_t pager_process = 0; // signal handlers have no arguments

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// Empty: none.
std::string command() {
    const std::string terminal = environment("TERM");
    if (terminal.empty() || terminal == "dumb") {
        return "";
    }
    for (const char* const name : {"MMIOSCOPE_PAGER", "PAGER"}) {
        if (std::getenv(name) != nullptr) {
            const std::string chosen = environment(name);
            return chosen == "cat" ? "" : chosen;
        }
    }
    return find_in_path("less") ? "less" : "";
}

void wait_for_pager() {
    while (::waitpid(pager_process, nullptr, 0) < 0 && errno == EINTR) {
    }
}

// The pager has the terminal until the user leaves it.
void wait_and_die(int signal) {
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    wait_for_pager();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

// Does not start the pager without output: an earlier error stays in its usual place.
[[noreturn]] void become_pager(const std::string& command, int input) {
    ::dup2(input, STDIN_FILENO);
    ::close(input);
    pollfd first{STDIN_FILENO, POLLIN, 0};
    ::poll(&first, 1, -1);
    ::setenv("LESS", "FRX", 0);
    restore_signals();
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    std::_Exit(127);
}

constexpr int deadly[] = {SIGINT, SIGHUP, SIGTERM, SIGQUIT, SIGPIPE};

} // namespace

Pager::Pager(bool wanted) {
    const std::string program = wanted && ::isatty(STDOUT_FILENO) != 0 ? command() : "";
    int ends[2];
    if (program.empty() || ::pipe(ends) != 0) {
        return;
    }
    std::fflush(stdout);
    const pid_t process = ::fork();
    if (process == 0) {
        ::close(ends[1]);
        become_pager(program, ends[0]);
    }
    ::close(ends[0]);
    if (process > 0) {
        pager_process = process;
        output_ = ::dup(STDOUT_FILENO);
        ::dup2(ends[1], STDOUT_FILENO);
        if (::isatty(STDERR_FILENO) != 0) {
            errors_ = ::dup(STDERR_FILENO);
            ::dup2(ends[1], STDERR_FILENO);
        }
        for (const int signal : deadly) {
            if (std::signal(signal, wait_and_die) == SIG_IGN) {
                std::signal(signal, SIG_IGN);
            }
        }
    }
    ::close(ends[1]);
}

Pager::~Pager() {
    if (output_ < 0) {
        return;
    }
    std::fflush(stdout);
    ::dup2(output_, STDOUT_FILENO); // closes the pipe
    ::close(output_);
    if (errors_ >= 0) {
        ::dup2(errors_, STDERR_FILENO);
        ::close(errors_);
    }
    wait_for_pager();
    for (const int signal : deadly) {
        if (std::signal(signal, SIG_DFL) == SIG_IGN) {
            std::signal(signal, SIG_IGN);
        }
    }
}

} // namespace mmioscope::view
