#include "view/dmesg_lines.hpp"

#include "lib/error.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace mmioscope::view {

namespace {

std::vector<analysis::DmesgLine> lines_of(const std::string& path) {
    open_input(path); // says why it cannot be read
    std::ifstream in(path);
    std::vector<analysis::DmesgLine> lines = analysis::read_dmesg(in);
    if (lines.empty()) {
        throw bad_input("{}: no line begins with printk's time, as [    1.234567]", path);
    }
    return lines;
}

std::int64_t find_offset(const std::vector<analysis::DmesgLine>& lines, const std::string& path) {
    if (path == "-") {
        throw bad_input("--dmesg: a pipe is read once; --dmesg-offset has to say where it belongs");
    }
    reading::TraceOptions whole;
    whole.path = path;
    reading::Trace trace(whole);
    analysis::DmesgOffset offset(lines);
    while (const Event* event = trace.next()) {
        offset.add(*event);
    }
    if (!offset.estimate()) {
        throw bad_input("--dmesg: no line of it goes out by a traced UART; "
                        "--dmesg-offset has to say where it belongs");
    }
    fmt::print(stderr,
               "mmioscope: dmesg: printk's 0 is at {:.6f} s of the trace, by {} of {} lines found "
               "on the console; half of these within {:.6f} s\n",
               static_cast<double>(*offset.estimate()) / 1e9, offset.lines_seen(), lines.size(),
               static_cast<double>(offset.half_within()) / 1e9);
    return *offset.estimate();
}

} // namespace

DmesgLines::DmesgLines(const std::string& path, std::optional<std::int64_t> offset,
                       const reading::TraceOptions& options)
    : lines_(lines_of(path)) {
    const std::int64_t zero = offset ? *offset : find_offset(lines_, options.path);
    const auto from = static_cast<std::int64_t>(options.from.value_or(0));
    const std::int64_t to = options.to ? static_cast<std::int64_t>(*options.to)
                                       : std::numeric_limits<std::int64_t>::max();
    for (analysis::DmesgLine& line : lines_) {
        line.nanoseconds += zero;
    }
    std::erase_if(lines_, [&](const analysis::DmesgLine& line) {
        return (options.from && line.nanoseconds < from) || line.nanoseconds >= to;
    });
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const auto& a, const auto& b) { return a.nanoseconds < b.nanoseconds; });
}

void DmesgLines::print_up_to(std::int64_t nanoseconds, const trace::TraceReader& reader,
                             Printer& printer) {
    for (; next_ < lines_.size() && lines_[next_].nanoseconds <= nanoseconds; ++next_) {
        const analysis::DmesgLine& line = lines_[next_];
        const double frequency = reader.info() ? reader.info()->counter_frequency : 1e9;
        const auto ticks =
            static_cast<std::int64_t>(static_cast<double>(line.nanoseconds) / 1e9 * frequency);
        printer.add(line.nanoseconds,
                    reader.start().value_or(0) + static_cast<std::uint64_t>(ticks),
                    "dmesg " + line.text);
    }
}

void DmesgLines::print_before(const Event& event, const trace::TraceReader& reader,
                              Printer& printer) {
    print_up_to(static_cast<std::int64_t>(event.nanoseconds), reader, printer);
}

void DmesgLines::finish(const trace::TraceReader& reader, Printer& printer) {
    print_up_to(std::numeric_limits<std::int64_t>::max(), reader, printer);
}

} // namespace mmioscope::view
