#include "run/plan.hpp"

#include "file/console_text.hpp"
#include "file/packing.hpp"
#include "file/texts.hpp"
#include "run/probes.hpp"
#include "run/process.hpp"
#include "run/qemu_command.hpp"
#include "run/run_files.hpp"
#include "run/terminal.hpp"
#include "run/trace_source.hpp"
#include "run/watch.hpp"
#include "system/message.hpp"
#include "system/replaced_file.hpp"
#include "view/live_printer.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

namespace mmioscope::run {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A pass with more records than this is followed by the next one at once.
constexpr std::size_t busy = 4096;

// Waits until the trace is ready. Returns nothing, or why it will never be.
std::optional<RunEnd> wait_until_ready(const Plan& plan, TraceSource& source, Watch& watch,
                                       Wires& wires) {
    const double start = watch.elapsed().count();
    while (!source.ready()) {
        wires.pass();
        std::optional<RunEnd> stop = watch.check();
        if (stop && !source.ready()) {
            return stop;
        }
        if (watch.elapsed().count() - start > plan.options.ready_limit) {
            return RunEnd{
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

trace::About about(const Plan& plan, unsigned boot) {
    const Options& options = plan.options;
    std::string lines = trace::origin_lines(options.command);
    lines += plan.qemu_version.empty() ? "" : fmt::format("qemu={}\n", plan.qemu_version);
    lines += fmt::format("kernel={}\n", std::filesystem::path(options.kernel).filename().string());
    lines += fmt::format("command-line={}\n", options.command_line.value_or(""));
    lines += fmt::format("cpus={}\nmemory={}\n", options.cpus, options.memory);
    lines += boot > 1 ? fmt::format("boot={}\n", boot) : "";
    if (!options.trace.empty()) {
        lines += fmt::format("trace={}\n", fmt::join(options.trace, ","));
    }
    if (!options.at_start.empty()) {
        lines += fmt::format("at-start={}\n", fmt::join(options.at_start, "; "));
    }
    if (!plan.names.banner.empty()) {
        lines += fmt::format("kernel.banner={}\n", plan.names.banner);
    }
    return {std::move(lines), plan.names.symbols, plan.tree,
            options.stacks.empty() ? std::vector<std::byte>() : plan.names.frames};
}

/// Copies the guest's console into the trace.
class Console {
public:
    /// `awaited`: what the guest says last; empty: nothing is awaited.
    Console(ConsoleFile& from, trace::FileWriter& file, std::uint32_t frequency,
            const std::string& awaited)
        : from_(from), to_(file, frequency), awaited_(awaited) {}

    /// Records were read: tells the time by them.
    void see(const trace::Summary& summary) {
        if (summary.last()) {
            to_.see(*summary.last());
        }
    }
    /// True once the guest has said what is awaited.
    bool pass() {
        const std::span<const std::byte> more = from_.read_more();
        to_.add(more);
        if (awaited_.empty() || more.empty()) {
            return false;
        }
        output_.append(reinterpret_cast<const char*>(more.data()), more.size());
        if (output_.find(awaited_) != std::string::npos) {
            return true;
        }
        output_.erase(0, output_.size() - std::min(output_.size(), awaited_.size() - 1));
        return false;
    }
    void finish() {
        for (auto more = from_.read_more(); !more.empty(); more = from_.read_more()) {
            to_.add(more);
        }
    }

private:
    ConsoleFile& from_;
    trace::ConsoleWriter to_;
    const std::string& awaited_;
    std::string output_; ///< the end of it, in which a part of what is awaited may be
};

RunEnd record(TraceSource& source, trace::FileWriter& file, Watch& watch, ProgressLine& progress,
              Wires& wires, Console& console, ModuleProbes& modules) {
    // A stream sends its end 100 ms after the guest has halted.
    constexpr auto most_behind = 2s;
    std::optional<Clock::time_point> said;
    Clock::time_point next_flush = Clock::now();
    for (;;) {
        wires.pass();
        modules.pass();
        const std::size_t count = source.pass();
        if (count > 0) {
            console.see(source.summary());
        }
        if (console.pass() && !said) {
            said = Clock::now();
        }
        if (said && (source.has_all() || Clock::now() >= *said + most_behind)) {
            return RunEnd{abi::Ending::said, "", ""};
        }
        if (std::optional<RunEnd> stop = watch.check()) {
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

/// Lets the printer finish, however the recording ends.
struct EndOfFile {
    trace::WriteProgress& written;
    ~EndOfFile() { written.finish(); }
};

/// Common to all boots of a run.
struct RunParts {
    const Plan& plan;
    Process& qemu;
    Watch& watch;
    ProgressLine& progress;
    Wires& wires;
    ConsoleFile& console;
    ModuleProbes& modules;
    view::LivePrinter* printer;
    trace::Packing& packing;

    /// Whether to reset the machine and trace its next boot.
    bool goes_on(const RunEnd& stop, unsigned boot) const {
        return stop.ending == abi::Ending::machine_reset && boot <= plan.options.reboots;
    }
};

// Records one boot, which is ready, into its own file. Ends QEMU unless the run continues.
RunEnd record_boot(const RunParts& run, TraceSource& source, FileDescriptor opened, unsigned boot) {
    const auto trace_file = std::make_shared<trace::FollowedFile>(std::move(opened));
    const EndOfFile end_of_file{trace_file->written};
    const std::string& output = run.plan.options.output;
    trace::FileWriter file(trace_file->file.get(), trace_file->written,
                           output.empty() ? "the trace" : part_path(output, boot));
    source.begin(file, about(run.plan, boot));
    if (run.printer != nullptr) {
        run.printer->follow(trace_file);
    }
    Console console(run.console, file, source.frequency(), run.plan.options.stop_at);
    const RunEnd stop =
        record(source, file, run.watch, run.progress, run.wires, console, run.modules);
    if (!run.goes_on(stop, boot)) {
        run.qemu.terminate(2s);
    }
    while (run.wires.pass()) {
    }
    console.finish();
    source.finish(stop.ending);
    if (!output.empty()) {
        run.packing.add({part_path(output, boot), trace_file, file.written()});
    }
    return stop;
}

// What the file has counts, not what was written to it.
TraceResult read_back(TraceResult result, const std::string& damage) {
    if (!damage.empty()) {
        result.doubts = damage;
    }
    return result;
}

} // namespace

Status run_session(const Plan& plan) {
    const TerminalSettings settings;
    Signals signals;
    const GuestMemory memory(plan.board, plan.options.memory, plan.options.ram);
    RunFiles files(plan);
    std::optional<Monitor> monitor;
    if (plan.options.reboots > 0) {
        monitor.emplace();
    }
    // Before QEMU starts: RAM may contain an earlier boot's area.
    std::unique_ptr<TraceSource> source = make_source(plan, memory, files);
    LogFile hypervisor_log(
        (plan.board.one_serial() ? files.console_log : files.hypervisor_log).get());
    ConsoleFile console_text(files.console_log.get());
    Wires wires(plan.options, files);
    const QemuFiles inherited =
        wires.for_qemu(files.for_qemu(memory.fd(), monitor ? monitor->for_qemu() : -1));
    Process qemu(plan.qemu, qemu_command(plan, inherited), files.messages.get(),
                 plan.options.console);
    wires.started();
    Watch watch(qemu, monitor ? &*monitor : nullptr, signals, hypervisor_log,
                plan.options.time_limit);
    std::optional<view::LivePrinter> printer;
    ProgressLine progress(shows_progress(plan.options));
    AccessLogs access_logs(files.access_log ? files.access_log.get() : -1, plan.options.access_log);
    Closing closing(plan, files);
    ModuleProbes modules(plan.module_probes, plan.options.returns ? abi::control::returns : 0,
                         memory.bytes(), memory.base(),
                         plan.board.hypervisor_base() + abi::control_page_offset);
    trace::Packing packing(!plan.options.plain);
    for (unsigned boot = 1;; ++boot) {
        if (const std::optional<RunEnd> stop = wait_until_ready(plan, *source, watch, wires)) {
            qemu.terminate(2s);
            progress.clear();
            access_logs.split();
            (void)packing.finish(shows_progress(plan.options));
            (void)files.whole(plan.options);
            return closing.not_started(*stop);
        }
        if (!printer && prints(plan.options)) {
            printer.emplace(plan.options.live);
        }
        const RunParts run{plan,   qemu,         watch,   progress,
                           wires,  console_text, modules, printer ? &*printer : nullptr,
                           packing};
        const RunEnd stop =
            record_boot(run, *source,
                        boot == 1 ? std::move(files.trace) : trace_file(plan.options, boot), boot);
        progress.clear();
        if (!run.goes_on(stop, boot)) {
            access_logs.split();
            modules.finish();
            const std::string said = last_lines(files.console_log.get(), 1);
            const std::uint64_t not_printed = printer ? printer->finish() : 0;
            const std::string damage = packing.finish(shows_progress(plan.options));
            const Status status =
                closing.end(stop, read_back(source->result(said), damage), not_printed);
            const bool others =
                files.whole(plan.options) && wires.whole() && !(printer && printer->failed());
            return status == Status::fine && !others ? Status::failed : status;
        }
        access_logs.end_boot();
        closing.boot_over(read_back(source->result(""), packing.take_damage(1s)));
        source = source->next_boot();
        monitor->restart();
    }
}

} // namespace mmioscope::run
