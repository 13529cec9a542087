#include "view/dmesg_lines.hpp"
#include "import/importing.hpp"
#include "records/ticks.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "system/message.hpp"
#include "system/open_source.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

namespace mmioscope::view {

namespace {

constexpr double most_ticks = 0x1p62;

// Damage is reported when the trace is printed.
void ignore(const std::string& /*problem*/) {}

std::vector<analysis::DmesgLine> lines_of(const std::string& path) {
    std::istringstream in(whole_text(path, "kernel's log"));
    std::vector<analysis::DmesgLine> lines = analysis::read_dmesg(in);
    if (lines.empty()) {
        throw bad_input(
            "{}: no line has printk's time, such as [    1.234567]: take `dmesg` without "
            "-T, or `journalctl -k -o short-monotonic`",
            path);
    }
    return lines;
}

// The same input, without any selection.
reading::TraceOptions same_files(const reading::TraceOptions& options) {
    reading::TraceOptions whole;
    whole.path = options.path;
    whole.one_file = options.one_file;
    whole.report = ignore;
    return whole;
}

/// The kernel's log from the guest's console, with times from the trace.
struct OwnLog {
    std::vector<analysis::DmesgLine> lines;
    std::optional<std::int64_t> zero; ///< printk's 0 in these times, ns
};

// The least delay of a line relative to its own time: other delays only made lines later.
OwnLog own_log(const reading::TraceOptions& options) {
    reading::TraceOptions late = same_files(options); // needs no records
    late.from = std::numeric_limits<std::uint64_t>::max();
    reading::Trace trace(late);
    while (trace.next() != nullptr) {
    }
    const trace::TraceReader& reader = trace.reader();
    const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
    const std::optional<std::uint64_t> start = reader.start();
    OwnLog log;
    for (const trace::ConsoleText::Line& line : reader.console().lines()) {
        std::istringstream in(line.text);
        for (analysis::DmesgLine& found : analysis::read_dmesg(in)) {
            if (start && line.time != 0 && found.nanoseconds != 0) {
                // Also before the trace's first record: then printk's 0 is before it.
                const bool earlier = line.time < *start;
                const std::uint64_t away = earlier ? *start - line.time : line.time - *start;
                if (away <= trace::ticks(analysis::dmesg_limit, frequency)) {
                    const auto nanoseconds =
                        static_cast<std::int64_t>(trace::nanoseconds(away, frequency));
                    const std::int64_t came = earlier ? -nanoseconds : nanoseconds;
                    const std::int64_t bound = came - found.nanoseconds;
                    log.zero = std::min(log.zero.value_or(bound), bound);
                }
            }
            log.lines.push_back(std::move(found));
        }
    }
    if (log.lines.empty()) {
        throw bad_input("{}: the trace has no kernel log on its console: give --dmesg a file",
                        options.path);
    }
    return log;
}

std::int64_t find_offset(const std::vector<analysis::DmesgLine>& lines,
                         const reading::TraceOptions& options,
                         std::optional<std::int64_t> by_console) {
    reading::Trace trace(same_files(options));
    analysis::DmesgOffset offset(lines);
    while (const Event* event = trace.next()) {
        if (importing::has_clock_of_printk(trace.reader().text())) {
            return static_cast<std::int64_t>(event->nanoseconds - event->record.time);
        }
        offset.add(*event);
    }
    if (!offset.estimate() && by_console) {
        print_message(
            "mmioscope: dmesg: printk's time 0 is at {:.6f} s of the trace, by the times at which "
            "console lines reached the host\n",
            static_cast<double>(*by_console) / 1e9);
        return *by_console;
    }
    if (!offset.estimate()) {
        throw bad_input("--dmesg: none of its lines left by a traced UART: give --dmesg-offset");
    }
    print_message(
        "mmioscope: dmesg: printk's time 0 is at {:.6f} s of the trace, by {} of {} lines found "
        "on the console; half of them within {:.6f} s\n",
        static_cast<double>(*offset.estimate()) / 1e9, offset.lines_seen(), lines.size(),
        static_cast<double>(offset.half_within()) / 1e9);
    return *offset.estimate();
}

} // namespace

DmesgLines::DmesgLines(const std::string& path, std::optional<std::int64_t> offset,
                       const reading::TraceOptions& options) {
    if (reads_once(options.path) && (path.empty() || !offset)) {
        throw bad_input("--dmesg: a pipe can be read only once: give {}",
                        path.empty() ? "a file and --dmesg-offset" : "--dmesg-offset");
    }
    std::optional<std::int64_t> by_console;
    if (path.empty()) {
        OwnLog log = own_log(options);
        lines_ = std::move(log.lines);
        by_console = log.zero;
    } else {
        lines_ = lines_of(path);
    }
    const std::int64_t zero = offset ? *offset : find_offset(lines_, options, by_console);
    const auto from = static_cast<std::int64_t>(options.from ? options.from->nanoseconds : 0);
    const std::int64_t to = options.to ? static_cast<std::int64_t>(options.to->nanoseconds)
                                       : std::numeric_limits<std::int64_t>::max();
    for (analysis::DmesgLine& line : lines_) {
        line.nanoseconds += zero;
    }
    std::erase_if(lines_, [&](const analysis::DmesgLine& line) {
        return (options.from && line.nanoseconds < from) || line.nanoseconds >= to;
    });
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const auto& a, const auto& b) { return a.nanoseconds < b.nanoseconds; });
    // Skip lines that the guest prints again.
    const auto again = [](const auto& a, const auto& b) {
        return a.nanoseconds == b.nanoseconds && a.text == b.text;
    };
    lines_.erase(std::unique(lines_.begin(), lines_.end(), again), lines_.end());
}

void DmesgLines::print_to(Printer& printer, const trace::TraceReader& reader) {
    printer_ = &printer;
    reader_ = &reader;
}

void DmesgLines::print_up_to(std::int64_t nanoseconds) {
    for (; next_ < lines_.size() && lines_[next_].nanoseconds <= nanoseconds; ++next_) {
        const analysis::DmesgLine& line = lines_[next_];
        const double frequency = reader_->info() ? reader_->info()->counter_frequency : 1e9;
        const double exact = static_cast<double>(line.nanoseconds) / 1e9 * frequency;
        const auto ticks = static_cast<std::int64_t>(std::clamp(exact, -most_ticks, most_ticks));
        printer_->add(line.nanoseconds,
                      reader_->start().value_or(0) + static_cast<std::uint64_t>(ticks),
                      "dmesg " + lines_for_terminal(line.text));
    }
}

void DmesgLines::finish() {
    print_up_to(std::numeric_limits<std::int64_t>::max());
    printer_->finish();
}

} // namespace mmioscope::view
