#include "run/process.hpp"

#include "system/error.hpp"
#include "system/signals.hpp"
#include "system/user_cache.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <thread>

namespace mmioscope::run {

namespace {

using namespace std::chrono_literals;

// Between fork and exec only system calls are allowed.
[[noreturn]] void become(const char* program, char* const* arguments, int messages, bool terminal,
                         pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(127); // the parent died before the line above
    }
    restore_signals(); // before any signal arrives: the handlers are the parent's
    if (!terminal) {
        ::setpgid(0, 0); // only this program handles Ctrl-C
        ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
        ::dup2(messages, STDOUT_FILENO);
    }
    ::dup2(messages, STDERR_FILENO);
    ::execv(program, arguments);
    const char* reason = std::strerror(errno);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, reason, std::strlen(reason));
    ::_exit(127);
}

Exit to_exit(int status) {
    return WIFEXITED(status) ? Exit{WEXITSTATUS(status), 0} : Exit{-1, WTERMSIG(status)};
}

} // namespace

std::string Exit::text() const {
    return signal == 0 ? fmt::format("exit status {}", code)
                       : fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (is_executable(name)) {
            return name;
        }
        throw bad_input("cannot execute {}: {} (QEMU is in Debian's package qemu-system-arm)", name,
                        std::strerror(errno));
    }
    if (const std::optional<std::string> program = find_in_path(name)) {
        return *program;
    }
    throw bad_input("{} not found: install Debian's package qemu-system-arm, or give --qemu PATH",
                    name);
}

Process::Process(const std::string& program, const std::vector<std::string>& arguments,
                 int messages, bool terminal) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_ = ::fork();
    if (pid_ == 0) {
        become(program.c_str(), argv.data(), messages, terminal, parent);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid_ < 0) {
        throw failure("cannot start {}: {}", program, std::strerror(errno));
    }
}

Process::~Process() {
    if (!poll()) {
        terminate(0ms);
    }
}

std::optional<Exit> Process::poll() {
    int status = 0;
    if (!exit_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
        exit_ = to_exit(status);
    }
    return exit_;
}

std::optional<Exit> Process::wait(std::chrono::milliseconds patience) {
    for (auto waited = 0ms; waited < patience && !poll(); waited += 2ms) {
        std::this_thread::sleep_for(2ms);
    }
    return exit_;
}

Exit Process::terminate(std::chrono::milliseconds patience) {
    if (!poll()) {
        ::kill(pid_, SIGTERM);
    }
    for (auto waited = 0ms; waited < patience && !poll(); waited += 5ms) {
        std::this_thread::sleep_for(5ms);
    }
    if (!poll()) {
        ::kill(pid_, SIGKILL);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        exit_ = to_exit(status);
    }
    return *exit_;
}

namespace {

constexpr std::size_t block = 1 << 16;
constexpr std::size_t most_line = block;
constexpr std::size_t most_report = 1 << 20;

using Block = std::array<char, block>;

/// The bytes of the file from `at` on, as many as `into` holds; empty at the end.
std::string_view bytes_of(int fd, std::uint64_t at, Block& into) {
    const ssize_t got = ::pread(fd, into.data(), into.size(), static_cast<off_t>(at));
    return {into.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

std::uint64_t size_now(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

} // namespace

std::string last_lines(const std::string& text, std::size_t lines) {
    std::string clean;
    std::copy_if(text.begin(), text.end(), std::back_inserter(clean),
                 [](char c) { return c != '\r' && c != '\0'; });
    if (!clean.empty() && clean.back() != '\n') {
        clean += '\n';
    }
    std::size_t start = clean.size();
    while (lines-- > 0 && start > 0) {
        const std::size_t end = start >= 2 ? clean.rfind('\n', start - 2) : std::string::npos;
        start = end == std::string::npos ? 0 : end + 1;
    }
    return clean.substr(start);
}

std::string last_lines(int fd, std::size_t lines) {
    const std::uint64_t size = size_now(fd);
    Block bytes;
    return last_lines(std::string(bytes_of(fd, size - std::min<std::uint64_t>(size, block), bytes)),
                      lines);
}

std::string beginning(int fd, std::size_t most) {
    Block bytes;
    return std::string(bytes_of(fd, 0, bytes).substr(0, most));
}

bool log_has(int fd, std::string_view part) {
    Block bytes;
    std::string text; // a block, after the end of the previous one, where `part` may begin
    for (std::uint64_t at = 0;;) {
        const std::string_view more = bytes_of(fd, at, bytes);
        at += more.size();
        text += more;
        if (text.find(part) != std::string::npos) {
            return true;
        }
        if (more.empty()) {
            return false;
        }
        text.erase(0, text.size() - std::min(text.size(), part.size()));
    }
}

bool LogFile::read_more(std::uint64_t end) {
    if (read_ >= end || (found_ && text_.size() >= most_report)) {
        return false;
    }
    Block bytes;
    const std::string_view more = bytes_of(fd_, read_, bytes);
    read_ += more.size();
    text_ += more;
    return !more.empty();
}

std::optional<std::string> LogFile::from_line(std::string_view start) {
    const std::uint64_t end = size_now(fd_);
    while (read_more(end)) {
        std::size_t line = 0;
        for (std::size_t at = 0; !found_ && (at = text_.find('\n', line)) != std::string::npos;) {
            found_ = text_.compare(line, start.size(), start) == 0;
            line = found_ ? line : at + 1;
        }
        text_.erase(0, line);
        if (!found_ && text_.size() > most_line) {
            text_.erase(start.size(), text_.size() - most_line); // keep the start of the line
        }
    }
    return found_ ? std::optional(text_) : std::nullopt;
}

bool LogFile::report_has(std::string_view part) {
    const std::uint64_t end = size_now(fd_);
    while (read_more(end)) {
    }
    return text_.find(part) != std::string::npos;
}

std::span<const std::byte> ConsoleFile::read_more() {
    const ssize_t size = ::pread(fd_, buffer_.data(), buffer_.size(), static_cast<off_t>(read_));
    const auto got = static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    read_ += got;
    return std::span<const std::byte>(buffer_).first(got);
}

} // namespace mmioscope::run
