#include "system/signals.hpp"

#include "system/error.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace mmioscope {

Signals::Signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        ::sigaddset(&set, signal);
    }
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
