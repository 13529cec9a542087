// Detects that a run is over, and why.
#pragma once

#include "abi/container.hpp"
#include "run/process.hpp"
#include "system/file_descriptor.hpp"
#include "system/signals.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace mmioscope::run {

// QEMU's control socket. When the guest powers off or resets the machine, QEMU stops it and reports
// this, so that nothing is lost between two boots.

class Monitor {
public:
    /// Creates the socket; child processes inherit its other end. Throws Error.
    Monitor();

    /// The other end, for QEMU.
    int for_qemu() const { return theirs_.get(); }

    /// Why the machine has stopped.
    enum class Halt { off, reset };
    /// Nothing while the machine runs.
    std::optional<Halt> poll();

    /// After a halt: resets the machine, and lets it run until the next one. Throws Error (failed)
    /// if QEMU does not.
    void restart();

private:
    void send(const std::string& line);
    void read_lines();
    void read_line(const std::string& line);
    void wait_for(const bool& done, const char* what);

    FileDescriptor ours_;
    FileDescriptor theirs_;
    std::string text_; ///< received, but without line end so far
    std::optional<Halt> halt_;
    bool reset_ = false;   ///< QEMU has reset the machine
    bool running_ = false; ///< and the machine runs again
};

/// Why a run is over.
struct RunEnd {
    abi::Ending ending;
    std::string why;    ///< empty: powered off by itself; otherwise part of a sentence
    std::string report; ///< the hypervisor's output about it, as lines
};

class Watch {
public:
    /// The caller owns all of these. `monitor`: null if the machine ends when the guest resets it.
    /// `time_limit` in seconds; 0: none.
    Watch(Process& process, Monitor* monitor, Signals& signals, LogFile& hypervisor_log,
          double time_limit);

    /// Nothing while the run continues.
    std::optional<RunEnd> check();

    std::chrono::duration<double> elapsed() const;

private:
    using Clock = std::chrono::steady_clock;

    std::optional<RunEnd> hypervisor_stopped();

    Process& process_;
    Monitor* monitor_;
    Signals& signals_;
    LogFile& hypervisor_log_;
    double time_limit_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point next_look_ = start_;
};

} // namespace mmioscope::run
