#include "system/signals.hpp"

#include "system/error.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

namespace mmioscope {

namespace {

/// What the program was started with.
struct Started {
    std::array<bool, NSIG> ignored{};
    sigset_t blocked{};
};

// A child has no arguments but what is in memory.
Started& started() {
    static Started signals;
    return signals;
}

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

void note_signals() {
    Started& signals = started();
    for (int signal = 1; signal < NSIG; ++signal) {
        signals.ignored[static_cast<std::size_t>(signal)] = is_ignored(signal);
    }
    ::pthread_sigmask(SIG_BLOCK, nullptr, &signals.blocked);
    ::signal(SIGXFSZ, SIG_IGN);
}

void restore_signals() {
    const Started& signals = started();
    for (int signal = 1; signal < NSIG; ++signal) {
        const bool ignored = signals.ignored[static_cast<std::size_t>(signal)];
        ::signal(signal, ignored ? SIG_IGN : SIG_DFL); // fails for SIGKILL and SIGSTOP
    }
    ::sigprocmask(SIG_SETMASK, &signals.blocked, nullptr);
}

sigset_t ending_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        if (!is_ignored(signal)) {
            ::sigaddset(&set, signal);
        }
    }
    return set;
}

Signals::Signals() {
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
    file_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!file_) {
        throw failure("cannot watch for signals");
    }
}

Signals::~Signals() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Signals::pending() {
    signalfd_siginfo info{};
    if (!came_ && ::read(file_.get(), &info, sizeof info) == sizeof info) {
        came_ = true;
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    return came_;
}

} // namespace mmioscope
