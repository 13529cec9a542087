#include "run/process.hpp"

#include "system/error.hpp"
#include "system/signals.hpp"
#include "system/user_cache.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

} // namespace mmioscope::run
