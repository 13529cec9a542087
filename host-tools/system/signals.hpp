// Ctrl-C and SIGTERM as a state to poll, not as an interruption.
#pragma once

#include "system/file_descriptor.hpp"

#include <signal.h>

namespace mmioscope {

class Signals {
public:
    /// From now on SIGINT, SIGTERM and SIGHUP wait to be asked for. Threads started later
    /// do not get them either.
    Signals();
    /// As it was before.
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    /// True if one has come. After that, another one ends the program at once.
    bool pending();

private:
    FileDescriptor file_;
    sigset_t before_;
    bool came_ = false;
};

} // namespace mmioscope
