#include "run/watch.hpp"

#include "abi/layout.hpp"
#include "system/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

namespace mmioscope::run {

namespace {

using namespace std::chrono_literals;
constexpr auto answer_patience = 10s;

// The protocol is QMP: a JSON object per line in each direction (QEMU's docs/interop/qmp-spec.txt).
constexpr char begin[] = R"({"execute": "qmp_capabilities"})";
constexpr char let_reset[] =
    R"({"execute": "set-action", "arguments": {"reboot": "reset"}} {"execute": "system_reset"})";
constexpr char stand_still_again[] =
    R"({"execute": "set-action", "arguments": {"reboot": "shutdown"}} {"execute": "cont"})";

} // namespace

Monitor::Monitor() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw failure("cannot make a socket: {}", std::strerror(errno));
    }
    ours_ = FileDescriptor(ends[0]);
    theirs_ = FileDescriptor(ends[1]);
    ::fcntl(theirs_.get(), F_SETFD, 0);
    send(begin); // QEMU reads it when it is ready
}

void Monitor::send(const std::string& line) {
    const std::string bytes = line + "\n";
    if (::send(ours_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
        throw failure("cannot send a command to QEMU: {}", std::strerror(errno));
    }
}

std::optional<Monitor::Halt> Monitor::poll() {
    read_lines();
    return halt_;
}

void Monitor::read_lines() {
    std::array<char, 4096> bytes;
    ssize_t got = 0;
    while ((got = ::recv(ours_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
        text_.append(bytes.data(), static_cast<std::size_t>(got));
    }
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos;) {
        read_line(text_.substr(0, end));
        text_.erase(0, end + 1);
    }
}

void Monitor::read_line(const std::string& line) {
    const nlohmann::json message = nlohmann::json::parse(line, nullptr, false);
    if (!message.is_object()) {
        throw failure("QEMU's control socket sent text that is not JSON: {}", line);
    }
    if (message.contains("error")) {
        throw failure("QEMU refused a command: {}", message["error"].value("desc", line));
    }
    const std::string event = message.value("event", "");
    if (event == "SHUTDOWN") {
        const bool reset = message["data"].value("reason", "") == "guest-reset";
        halt_ = reset ? Halt::reset : Halt::off;
    }
    reset_ = reset_ || event == "RESET";
    running_ = running_ || event == "RESUME";
}

void Monitor::wait_for(const bool& done, const char* what) {
    for (auto waited = 0ms; !done; waited += 1ms) {
        if (waited > answer_patience) {
            throw failure("QEMU did not {} the machine", what);
        }
        std::this_thread::sleep_for(1ms);
        read_lines();
    }
}

void Monitor::restart() {
    halt_.reset();
    reset_ = false;
    send(let_reset);
    wait_for(reset_, "reset");
    running_ = false;
    send(stand_still_again);
    wait_for(running_, "continue");
}

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
