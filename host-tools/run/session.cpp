#include "run/session.hpp"

#include "abi/layout.hpp"
#include "lib/device_tree.hpp"
#include "lib/recorder.hpp"
#include "run/closing.hpp"
#include "run/guest_memory.hpp"
#include "run/live_printer.hpp"
#include "run/progress_line.hpp"
#include "run/qemu_command.hpp"
#include "run/run_files.hpp"
#include "run/terminal.hpp"
#include "run/watch.hpp"

#include <unistd.h>

#include <filesystem>
#include <thread>

namespace mmioscope::run {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A pass that finds more than this is followed by the next one at once.
constexpr std::size_t busy = 4096;

std::span<std::byte> area_memory(const GuestMemory& memory, const Plan& plan) {
    return memory.at(plan.board->hypervisor_base + abi::area_offset, plan.options.area_size);
}

// Nothing if the hypervisor has set its area up; else why it will not.
std::optional<Stop> wait_until_ready(const Plan& plan, const GuestMemory& memory, Watch& watch) {
    const std::span<std::byte> area = area_memory(memory, plan);
    while (!trace::Area::ready(area)) {
        std::optional<Stop> stop = watch.check();
        if (stop && !trace::Area::ready(area)) {
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

// The tree the guest was given, from its memory; ours if that is gone already.
void write_head(trace::FileWriter& file, const trace::Area& area, const GuestMemory& memory,
                const Plan& plan) {
    const abi::Info info = area.info();
    file.values(abi::SectionType::info, std::span(&info, 1));
    const std::span<std::byte> tree = memory.at(area.header().tree_base, area.header().tree_size);
    file.section(abi::SectionType::device_tree,
                 trace::tree_is_sound(tree) ? std::span<const std::byte>(tree) : plan.tree);
    file.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(area.regions()));
    file.text(about(plan));
}

Stop record(trace::Recorder& recorder, Watch& watch, ProgressLine& progress) {
    Clock::time_point next_flush = Clock::now();
    for (;;) {
        const std::size_t count = recorder.pass();
        if (std::optional<Stop> stop = watch.check()) {
            return *stop;
        }
        if (Clock::now() >= next_flush) {
            recorder.flush();
            progress.show(watch.elapsed().count(), recorder.summary().events());
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
    const GuestMemory memory(*plan.board, plan.options.memory);
    RunFiles files(plan);
    LogFile hypervisor_log(
        (plan.board->one_serial() ? files.console_log : files.hypervisor_log).get());
    Process qemu(
        plan.qemu,
        qemu_command(*plan.board, plan.options, plan.hypervisor, files.for_qemu(memory.fd())),
        files.messages.get(), plan.options.console);
    Watch watch(qemu, signals, hypervisor_log, plan.options.time_limit);

    if (const std::optional<Stop> stop = wait_until_ready(plan, memory, watch)) {
        qemu.terminate(2s);
        return report_not_started(*stop, files);
    }
    trace::WriteProgress written;
    trace::FileWriter file(files.trace.get(), written);
    const trace::Area area(area_memory(memory, plan));
    write_head(file, area, memory, plan);
    trace::Recorder recorder(area, file);
    std::optional<LivePrinter> printer;
    if (prints(plan.options)) {
        printer.emplace(files.trace.get(), written, print_options(plan.options));
    }
    const EndOfFile end_of_file{written};
    ProgressLine progress(plan.options);
    const Stop stop = record(recorder, watch, progress);
    qemu.terminate(2s);
    recorder.finish(stop.ending);
    written.finish();
    progress.clear();
    const std::uint64_t not_printed = printer ? printer->finish() : 0;
    return report_end(plan, stop, recorder, area, files, not_printed);
}

} // namespace mmioscope::run
