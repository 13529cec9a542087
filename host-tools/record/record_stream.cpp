#include "record/recording.hpp"

#include "abi/container.hpp"
#include "control/relay.hpp"
#include "record/doctor_report.hpp"
#include "records/verdict.hpp"
#include "rings/black_box.hpp"
#include "symbols/symbol_files.hpp"
#include "system/file_descriptor.hpp"
#include "system/message.hpp"
#include "system/open_source.hpp"
#include "system/replaced_file.hpp"
#include "system/signals.hpp"
#include "tree/device_tree.hpp"
#include "view/live_printer.hpp"
#include "wire/address.hpp"
#include "wire/transport.hpp"
#include "wire/wire_frames.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>

namespace mmioscope::record {

// Detects a source that is a trace file instead of a stream.

/// Throws Error (bad_input) if `source` is a file or standard input that begins like a trace,
/// compressed or not. Consumes no bytes of anything else.
void check_no_trace(const wire::Address& source);

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr wire::Patience moment = 50ms;

void say(const std::string& line) {
    print_message("mmioscope: {}\n", for_terminal(line));
}

/// The user's reasons to stop.
class Limits {
public:
    explicit Limits(double seconds) : seconds_(seconds) {}

    std::optional<RecordingEnd> reached() {
        if (signals_.pending()) {
            return RecordingEnd{abi::Ending::interrupted, "interrupted"};
        }
        if (seconds_ > 0 && elapsed() >= seconds_) {
            return RecordingEnd{abi::Ending::time_limit,
                                fmt::format("the time limit of {} s was reached", seconds_)};
        }
        return std::nullopt;
    }

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

private:
    Signals signals_;
    double seconds_;
    Clock::time_point start_ = Clock::now();
};

// A server listens at once; clients may connect during the recording. Nothing if it is open, or
// will be.
std::optional<RecordingEnd> open(wire::Transport& wire, bool listens, Limits& limits) {
    bool is_open = wire.open(0ms);
    while (!is_open && !listens) {
        if (std::optional<RecordingEnd> stop = limits.reached()) {
            return stop;
        }
        is_open = wire.open(moment);
    }
    return std::nullopt;
}

// Whether the machine is off, stopped, halted or reset, followed by the end of the wire or by
// silence for `silent`. After a reset, silence is a boot loader; a guest that stops its CPUs may be
// about to reset.
bool over(const Recording& recording, wire::Patience silent, bool broken) {
    const std::optional<abi::StreamEnd> end = recording.ended();
    if (!end || broken) {
        return end.has_value();
    }
    switch (*end) {
    case abi::StreamEnd::machine_reset: return false;
    case abi::StreamEnd::halted: return silent >= 10s;
    default: return silent >= moment;
    }
}

/// Receives the console's part of the wire.
class WireConsole {
public:
    /// Throws Error (bad_input) if the file cannot be written.
    explicit WireConsole(const std::string& path)
        : file_(path == "-" ? FileDescriptor() : create_output(path)),
          log_(file_ ? file_.get() : STDOUT_FILENO, "the console") {}

    /// Returns the stream's part.
    std::span<const std::byte> split(std::span<const std::byte> bytes) {
        wire_.feed(bytes);
        log_.append(wire_.console());
        return wire_.stream();
    }
    /// Whether all of the console's part is in the file.
    bool whole() const { return log_.whole(); }
    /// The console's part of the last bytes.
    std::span<const std::byte> text() const { return wire_.console(); }

private:
    FileDescriptor file_;
    SideFile log_;
    wire::SharedWire wire_;
};

class Loop {
public:
    Loop(const Options& options, wire::Link& link, Recording& recording, Limits& limits,
         control::Relay* relay, WireConsole* console, DoctorReport& doctor)
        : options_(options), link_(link), recording_(recording), limits_(limits), relay_(relay),
          console_(console), doctor_(doctor) {}

    /// Nothing while the recording continues. Throws Error if the stream or the file becomes
    /// unusable.
    std::optional<RecordingEnd> step() {
        const unsigned breaks = link_.breaks();
        const std::span<const std::byte> bytes = link_.read(moment);
        recording_.feed(console_ != nullptr ? console_->split(bytes) : bytes);
        if (console_ != nullptr) {
            recording_.console(console_->text());
        }
        if (relay_ != nullptr) {
            relay_->pass(bytes);
        }
        if (!recording_.begun()) {
            doctor_.feed(bytes);
        }
        const bool broken = link_.breaks() != breaks;
        if (broken) {
            recording_.broken_off();
        }
        if (std::optional<RecordingEnd> stop = limits_.reached()) {
            return stop;
        }
        silent_ = bytes.empty() ? silent_ + moment : 0ms;
        if (link_.over() || doctor_.ended() ||
            (!options_.forever && over(recording_, silent_, broken))) {
            return RecordingEnd{abi::Ending::stream_ended, ""};
        }
        return std::nullopt;
    }

private:
    const Options& options_;
    wire::Link& link_;
    Recording& recording_;
    Limits& limits_;
    control::Relay* relay_; ///< null: no control socket
    WireConsole* console_;  ///< null: the wire carries only the stream
    DoctorReport& doctor_;
    wire::Patience silent_{};
};

RecordingEnd record(const Options& options, Loop loop, Recording& recording, Parts& parts,
                    const Limits& limits) {
    ProgressLine progress(!(options.follow && ::isatty(STDOUT_FILENO) != 0));
    Rate rate;
    Clock::time_point next_flush = Clock::now();
    std::optional<RecordingEnd> stop;
    while (!stop) {
        stop = loop.step();
        if (Clock::now() >= next_flush) {
            parts.flush();
            progress.show(limits.elapsed(), [&] {
                return rate.text(limits.elapsed(), recording.events(), recording.bytes());
            });
            next_flush = Clock::now() + 20ms;
        }
    }
    progress.clear();
    return *stop;
}

// On failure, what was recorded so far stays intact.
RecordingEnd record_or_fail(const Options& options, const Loop& loop, Recording& recording,
                            Parts& parts, const Limits& limits) {
    try {
        return record(options, loop, recording, parts, limits);
    } catch (const Error& error) {
        return {abi::Ending::failed, error.what()};
    }
}

Status finish(const Options& options, const RecordingEnd& stop, Recording& recording, Parts& parts,
              std::optional<view::LivePrinter>& printer, const WireConsole* console) {
    recording.end_files(stop);
    const std::uint64_t not_printed = printer ? printer->finish() : 0;
    bool complete = false;
    const std::string lines = recording.finish(stop, parts.finish_packing(), complete);
    print_output("{}{}{}", trace::not_printed_note(not_printed),
                 saved_note(options.output, parts.count()), lines);
    const Status status = status_of_output(trace::status_of(stop.ending, complete));
    const bool others = (printer && printer->failed()) || (console != nullptr && !console->whole());
    return status == Status::fine && others ? Status::failed : status;
}

void check_outputs(const Options& options) {
    check_distinct(options.output, options.inputs());
    check_distinct(options.console, options.inputs());
    if (options.follow) {
        view::check_read_back(options.output);
    }
    check_distinct_outputs({{"-o", options.output, Numbered::yes},
                            {"--console", options.console, Numbered::no, true},
                            {"--ctl", options.control, Numbered::no}});
}

} // namespace

Status record_stream(const Options& options) {
    check_outputs(options);
    trace::About known;
    known.symbols = symbols::section_of(options.symbols);
    if (!options.tree.empty()) {
        known.tree = tree::read_tree(options.tree);
    }
    const wire::Address address = wire::parse_address(options.source);
    check_no_trace(address);
    // Resolves a host name here, while Ctrl-C still ends the program.
    wire::Transport wire = wire::make_transport(address, options.baud);
    Limits limits(options.time_limit);
    if (const std::optional<RecordingEnd> stop = open(wire, address.listen, limits)) {
        say(fmt::format("{}: {} before the source was open", options.source, stop->why));
        return trace::status_of(stop->ending, false);
    }
    std::optional<view::LivePrinter> printer;
    if (options.follow) {
        printer.emplace(options.live);
    }
    Parts parts(options, printer ? &*printer : nullptr, std::move(known));
    Recording recording(
        parts,
        [](const std::string& lines) {
            print_output("{}", lines);
            std::fflush(stdout);
        },
        options.live.verbose, options.live.look.width);
    wire::Link link(wire, options.reconnect, say);
    std::optional<WireConsole> console;
    if (!options.console.empty()) {
        console.emplace(options.console);
    }
    std::optional<control::Relay> relay;
    if (!options.control.empty()) {
        relay.emplace(options.control, [&wire](std::span<const std::byte> request) {
            if (wire.is_open()) {
                (void)wire.write(request, moment);
            }
        });
    }
    DoctorReport doctor;
    const Loop loop(options, link, recording, limits, relay ? &*relay : nullptr,
                    console ? &*console : nullptr, doctor);
    const RecordingEnd stop = record_or_fail(options, loop, recording, parts, limits);
    if (doctor.begun() && !recording.begun()) {
        recording.end_files(stop); // the file, without a boot, has its end
        (void)parts.finish_packing();
        print_output("{}", doctor.text());
        return status_of_output(doctor.can_trace() ? Status::fine
                                                   : trace::status_of(stop.ending, false));
    }
    return finish(options, stop, recording, parts, printer, console ? &*console : nullptr);
}

namespace {

bool is_file(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

bool begins_as_trace(int fd) {
    std::array<std::byte, sizeof abi::file_magic> first{};
    const off_t at = ::lseek(fd, 0, SEEK_CUR);
    const std::size_t size = open_source(fd)->read(first.data(), first.size());
    ::lseek(fd, at, SEEK_SET);
    return rings::is_trace_file(std::span(first).first(size));
}

} // namespace

void check_no_trace(const wire::Address& source) {
    struct stat status {};
    FileDescriptor file;
    if (source.kind == wire::Kind::path && ::stat(source.path.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode)) {
        file = open_input(source.path);
    }
    const int fd = source.kind == wire::Kind::standard_input ? STDIN_FILENO : file.get();
    if (is_file(fd) && begins_as_trace(fd)) {
        throw bad_input("{}: this is a trace, not a stream; read it with `mmioscope print`",
                        source.path.empty() ? "standard input" : source.path);
    }
}

} // namespace mmioscope::record
