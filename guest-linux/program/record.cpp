#include "record.hpp"

#include "announced.hpp"
#include "carrier.hpp"
#include "connection.hpp"
#include "file_output.hpp"
#include "physical_memory.hpp"
#include "recording.hpp"
#include "records/verdict.hpp"
#include "say.hpp"
#include "system/message.hpp"
#include "system/signals.hpp"
#include "untraced.hpp"
#include "wire/address.hpp"
#include "wire_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>

namespace mmioscope::guest {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The user's own reasons to stop.
class Limits {
public:
    explicit Limits(double seconds) : seconds_(seconds) {}

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    std::optional<abi::Ending> reached() {
        if (signals_.pending()) {
            return abi::Ending::interrupted;
        }
        const bool late = seconds_ > 0 && elapsed() >= seconds_;
        return late ? std::optional(abi::Ending::time_limit) : std::nullopt;
    }

private:
    Signals signals_;
    double seconds_;
    Clock::time_point start_ = Clock::now();
};

bool is_file(const wire::Address& address) {
    return address.kind == wire::Kind::path;
}

FileDescriptor standard_output() {
    if (::isatty(STDOUT_FILENO) != 0) {
        throw bad_input("-o -: standard output is a terminal");
    }
    return FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
}

std::unique_ptr<Connection> make_connection(const wire::Address& address, Limits& limits) {
    if (is_file(address) || address.kind == wire::Kind::standard_input) {
        return nullptr;
    }
    return std::make_unique<Connection>(address,
                                        [&limits] { return limits.reached().has_value(); });
}

FileDescriptor open_output(const wire::Address& address, Connection* connection) {
    if (connection != nullptr) {
        return connection->open();
    }
    return is_file(address) ? create_output(address.path) : standard_output();
}

std::vector<std::uint16_t> traced_carrier(const RecordOptions& options, int fd,
                                          const rings::Area& area) {
    std::vector<std::uint16_t> regions;
    if (!options.all) {
        for (const std::uint16_t region : carrier_of(fd, area.regions())) {
            if ((area.regions()[region].flags & abi::region_traced) != 0) {
                regions.push_back(region);
            }
        }
    }
    return regions;
}

void announce(const std::vector<std::uint16_t>& regions, const Untraced& carrier,
              const rings::Area& area) {
    if (!regions.empty()) {
        say(fmt::format("{} carries the trace and is {} (--all: traced, too)",
                        area.regions()[regions.front()].path,
                        carrier.left_out().empty() ? "not traced meanwhile"
                                                   : "left out of what is written"));
    }
}

std::string about() {
    return fmt::format("recorder=guest\nkernel={}\ncommand-line={}\n",
                       read_text("/proc/sys/kernel/osrelease"), read_text("/proc/cmdline"));
}

std::unique_ptr<Output> make_output(const wire::Address& address, FileDescriptor file,
                                    Connection* connection, const rings::Area& area,
                                    Limits& limits) {
    if (is_file(address)) {
        return std::make_unique<FileOutput>(address.path, std::move(file), area, about());
    }
    Sink::Reopen reopen;
    if (connection != nullptr) {
        reopen = [connection](const std::string& why) { return connection->open_again(why); };
    }
    return std::make_unique<WireOutput>(Sink(
                                            std::move(file), address.text,
                                            [&limits] { return limits.reached().has_value(); },
                                            std::move(reopen)),
                                        area);
}

abi::Ending run(Recording& recording, Output& output, Limits& limits,
                const RecordOptions& options) {
    constexpr std::size_t busy = 4096;
    ProgressLine progress(options.output != "-");
    Clock::time_point next_flush = Clock::now();
    for (;;) {
        const std::size_t count = recording.pass();
        if (const auto ending = limits.reached()) {
            progress.clear();
            return *ending;
        }
        if (Clock::now() >= next_flush) {
            output.flush();
            progress.show(limits.elapsed(), [&recording] {
                return fmt::format("{} events", recording.summary().events());
            });
            next_flush = Clock::now() + 100ms;
        }
        if (count < busy) {
            std::this_thread::sleep_for(2ms);
        }
    }
}

void print_verdict(const RecordOptions& options, const Recording& recording) {
    fmt::print(options.output == "-" ? stderr : stdout, "{}\n", recording.verdict());
    std::fflush(stdout);
}

} // namespace

Status record(const RecordOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);
    const wire::Address address = wire::parse_address(options.output);
    const Announced announced = read_announced();
    if (!announced.trace) {
        throw bad_input("the hypervisor does not let this kernel read the trace: set "
                        "mmioscope,guest-reader under /chosen (mmioscope run --guest-reader)");
    }
    PhysicalMemory memory(*announced.trace);
    if (!memory.claim()) {
        throw bad_input("another mmioscope-guest record reads the trace");
    }
    const rings::Area area(memory.bytes());
    Limits limits(options.time_limit);
    const std::unique_ptr<Connection> connection = make_connection(address, limits);
    FileDescriptor file = open_output(address, connection.get());
    const std::vector<std::uint16_t> regions = traced_carrier(options, file.get(), area);
    const Untraced carrier(announced, regions);
    announce(regions, carrier, area);
    const std::unique_ptr<Output> output =
        make_output(address, std::move(file), connection.get(), area, limits);
    Recording recording(area, *output, LeftOut(carrier.left_out()));
    const abi::Ending ending = run(recording, *output, limits, options);
    recording.finish(ending);
    print_verdict(options, recording);
    return trace::status_of(ending, recording.complete());
}

} // namespace mmioscope::guest
