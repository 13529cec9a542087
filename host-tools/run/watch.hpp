// Detects that a run is over, and why.
#pragma once

#include "abi/container.hpp"
#include "run/log_file.hpp"
#include "run/monitor.hpp"
#include "run/process.hpp"
#include "system/signals.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace mmioscope::run {

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
