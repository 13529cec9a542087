// Ctrl-C and SIGTERM as a state to poll instead of an interruption; and what a child inherits.
#pragma once

#include "system/file_descriptor.hpp"

#include <signal.h>

namespace mmioscope {

/// SIGINT, SIGTERM and SIGHUP, without those that whoever started the program ignores (nohup).
sigset_t ending_signals();

/// For main(), before anything else. Notes the signals that were ignored or blocked. From then on
/// SIGXFSZ is ignored: writing fails instead, and has a message.
void note_signals();

/// For a child, before it becomes another program: sets all signals as note_signals() found them;
/// as usual if it was not called. Async-signal-safe.
void restore_signals();

class Signals {
public:
    /// Blocks ending_signals(); pending() shows them. Also for threads started later.
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
