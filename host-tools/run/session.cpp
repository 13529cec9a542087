#include "run/session.hpp"

#include "lib/live_printer.hpp"
#include "lib/progress_line.hpp"
#include "run/closing.hpp"
#include "run/qemu_command.hpp"
#include "run/run_files.hpp"
#include "run/terminal.hpp"
#include "run/trace_source.hpp"
#include "run/watch.hpp"
#include "run/wires.hpp"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>

namespace mmioscope::run {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A pass that finds more than this is followed by the next one at once.
constexpr std::size_t busy = 4096;

// Nothing if the hypervisor has set its trace up; else why it will not.
std::optional<Stop> wait_until_ready(const Plan& plan, TraceSource& source, Watch& watch,
                                     Wires& wires) {
    while (!source.ready()) {
        wires.pass();
        std::optional<Stop> stop = watch.check();
        if (stop && !source.ready()) {
            return stop;
        }
        if (watch.elapsed().count() > plan.options.ready_limit) {
            return Stop{
                abi::Ending::failed,
                fmt::format("the hypervisor was not ready after {} s", plan.options.ready_limit),
                ""};
        }
        std::this_thread::sleep_for(1ms);
    }
    return std::nullopt;
}

std::unique_ptr<TraceSource> make_source(const Plan& plan, const GuestMemory& memory,
                                         const RunFiles& files) {
    if (plan.options.reads_stream()) {
        return std::make_unique<StreamSource>(
            (plan.options.stream_shared ? files.unshared : files.stream).get());
    }
    return std::make_unique<MemorySource>(plan, memory);
}

std::string about(const Plan& plan) {
    const Options& options = plan.options;
    std::string lines =
        fmt::format("kernel={}\n", std::filesystem::path(options.kernel).filename().string());
    lines += fmt::format("command-line={}\n", options.command_line.value_or(""));
    lines += fmt::format("cpus={}\nmemory={}\n", options.cpus, options.memory);
    for (const std::string& word : options.trace) {
        lines += fmt::format("trace={}\n", word);
    }
    return lines;
}

Stop record(TraceSource& source, trace::FileWriter& file, Watch& watch, ProgressLine& progress,
            Wires& wires) {
    Clock::time_point next_flush = Clock::now();
    for (;;) {
        wires.pass();
        const std::size_t count = source.pass();
        if (std::optional<Stop> stop = watch.check()) {
            return *stop;
        }
        if (Clock::now() >= next_flush) {
            file.flush();
            progress.show(watch.elapsed().count(), [&source] {
                return fmt::format("{} events", source.summary().events());
            });
            next_flush = Clock::now() + 20ms;
        }
        if (count < busy) {
            std::this_thread::sleep_for(1ms);
        }
    }
}

/// Lets the printer come to its end, whatever ends the recording.
struct EndOfFile {
    trace::WriteProgress& written;
    ~EndOfFile() { written.finish(); }
};

} // namespace

Status run_session(const Plan& plan) {
    const TerminalSettings settings;
    Signals signals;
    const GuestMemory memory(*plan.board, plan.options.memory, plan.options.ram);
    RunFiles files(plan);
    // Before QEMU starts: RAM may hold what another boot has left.
    const std::unique_ptr<TraceSource> source = make_source(plan, memory, files);
    LogFile hypervisor_log(
        (plan.board->one_serial() ? files.console_log : files.hypervisor_log).get());
    Wires wires(plan.options, files);
    Process qemu(plan.qemu, qemu_command(plan, wires.for_qemu(files.for_qemu(memory.fd()))),
                 files.messages.get(), plan.options.console);
    wires.started();
    Watch watch(qemu, signals, hypervisor_log, plan.options.time_limit);

    if (const std::optional<Stop> stop = wait_until_ready(plan, *source, watch, wires)) {
        qemu.terminate(2s);
        return report_not_started(*stop, files);
    }
    const auto trace_file = std::make_shared<trace::FollowedFile>(std::move(files.trace));
    trace::FileWriter file(trace_file->file.get(), trace_file->written);
    source->begin(file, about(plan));
    std::optional<trace::LivePrinter> printer;
    if (prints(plan.options)) {
        printer.emplace(trace::live_options(plan.options.all));
        printer->follow(trace_file);
    }
    const EndOfFile end_of_file{trace_file->written};
    ProgressLine progress(shows_progress(plan.options));
    const Stop stop = record(*source, file, watch, progress, wires);
    qemu.terminate(2s);
    wires.pass();
    source->finish(stop.ending);
    trace_file->written.finish();
    progress.clear();
    const std::uint64_t not_printed = printer ? printer->finish() : 0;
    return report_end(plan, stop, source->result(), files, not_printed);
}

} // namespace mmioscope::run
