#include "run/watch.hpp"

#include "abi/layout.hpp"

#include <fmt/format.h>

#include <thread>

namespace mmioscope::run {

using namespace std::chrono_literals;

Watch::Watch(Process& process, Monitor* monitor, Signals& signals, LogFile& hypervisor_log,
             double time_limit)
    : process_(process), monitor_(monitor), signals_(signals), hypervisor_log_(hypervisor_log),
      time_limit_(time_limit) {}

std::chrono::duration<double> Watch::elapsed() const {
    return Clock::now() - start_;
}

std::optional<RunEnd> Watch::check() {
    const std::optional<Exit> exit = process_.poll(); // first: the rest may be why it ended
    if (std::optional<RunEnd> stop = hypervisor_stopped()) {
        return stop;
    }
    if (signals_.pending()) {
        return RunEnd{abi::Ending::interrupted, "interrupted", ""};
    }
    if (exit && !exit->fine()) {
        return RunEnd{abi::Ending::failed, "QEMU ended with " + exit->text(), ""};
    }
    if (exit) {
        return RunEnd{abi::Ending::machine_off, "", ""};
    }
    if (const auto halt = monitor_ != nullptr ? monitor_->poll() : std::nullopt) {
        const bool reset = *halt == Monitor::Halt::reset;
        return RunEnd{reset ? abi::Ending::machine_reset : abi::Ending::machine_off, "", ""};
    }
    if (time_limit_ > 0 && elapsed().count() >= time_limit_) {
        return RunEnd{abi::Ending::time_limit,
                      fmt::format("the time limit of {} s was reached", time_limit_), ""};
    }
    return std::nullopt;
}

// Checks the log now and then, and once more when QEMU has ended.
std::optional<RunEnd> Watch::hypervisor_stopped() {
    if (Clock::now() < next_look_ && !process_.poll()) {
        return std::nullopt;
    }
    next_look_ = Clock::now() + 20ms;
    if (!hypervisor_log_.from_line(abi::stop_line)) {
        return std::nullopt;
    }
    // Wait for the rest of the report, unless it is cut short.
    for (auto waited = 0ms;
         waited < 1s && !hypervisor_log_.report_has(abi::end_of_report) && !process_.poll();
         waited += 20ms) {
        std::this_thread::sleep_for(20ms);
    }
    return RunEnd{abi::Ending::panicked, "the hypervisor stopped",
                  *hypervisor_log_.from_line(abi::stop_line)};
}

} // namespace mmioscope::run
