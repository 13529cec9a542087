// Ctrl-C and SIGTERM as a state to poll instead of an interruption.
#pragma once

#include "system/file_descriptor.hpp"

#include <signal.h>

namespace mmioscope {

class Signals {
public:
    /// Blocks SIGINT, SIGTERM and SIGHUP; pending() shows them. Also for threads started later.
    Signals();
    /// Restores the previous state.
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    /// Whether one has arrived. After that, another one ends the program at once.
    bool pending();

private:
    FileDescriptor file_;
    sigset_t before_;
    bool came_ = false;
};

} // namespace mmioscope
