#include "run/closing.hpp"

#include "records/record_text.hpp"
#include "records/verdict.hpp"
#include "system/message.hpp"
#include "system/part_path.hpp"
#include "tree/device_names.hpp"
#include "view/short_tables.hpp"

#include <unistd.h>

#include <algorithm>

namespace mmioscope::run {

namespace {

constexpr std::size_t log_lines = 15;

// For a terminal: what the guest or QEMU printed may have any bytes.
std::string log_end(const char* what, const FileDescriptor& file) {
    const std::string text = last_lines(file.get(), log_lines);
    return text.empty() ? "" : fmt::format("{}, last lines:\n{}", what, lines_for_terminal(text));
}

bool console_has(const std::string& expected, const RunFiles& files) {
    return expected.empty() || log_has(files.console_log.get(), expected);
}

std::string why_incomplete(const Plan& plan, const RunEnd& stop, const TraceResult& result,
                           const RunFiles& files) {
    if (!stop.why.empty() && !trace::is_cut(stop.ending)) {
        return result.doubts.starts_with(stop.why) ? result.doubts : stop.why;
    }
    if (!result.doubts.empty()) {
        return result.doubts;
    }
    if (!trace::is_cut(stop.ending) && !console_has(plan.options.expect, files)) {
        return fmt::format("the guest's console did not contain '{}'", plan.options.expect);
    }
    return std::string(trace::engine_caveat(result.engine));
}

} // namespace

bool prints(const Options& options) {
    return options.print.value_or(!options.console);
}

bool shows_progress(const Options& options) {
    return !options.console && !(prints(options) && ::isatty(STDOUT_FILENO) != 0);
}

void Closing::print_tables(const TraceResult& result) const {
    const tree::DeviceNames names(result.regions, plan_.tree);
    const trace::ReportContext context{&names, result.summary.start().value_or(0),
                                       result.counter_frequency};
    print_output(
        "{}{}",
        view::fitted_text(trace::device_table(result.summary, context),
                          tree::short_names(names, result.regions, plan_.tree),
                          plan_.options.live.look.width),
        trace::other_counts(result.summary, result.statistics, plan_.options.live.verbose));
    if (result.stream_bytes > 0) {
        const auto events =
            static_cast<double>(std::max<std::uint64_t>(result.summary.events(), 1));
        print_output("stream: {} bytes, {:.2f} an event\n", result.stream_bytes,
                     static_cast<double>(result.stream_bytes) / events);
    }
}

// A run of one boot does not name it.
void Closing::print_verdict(const TraceResult& result, const std::string& why, abi::Ending ending) {
    ++boots_;
    incomplete_ += !why.empty() || result.losses.lost() > 0 ? 1 : 0;
    const bool alone = plan_.options.reboots == 0;
    print_output("{}\n{}{}\n", result.summary.policies().line(result.policy),
                 alone ? "" : fmt::format("boot {}: ", boots_),
                 trace::verdict(result.summary, result.losses.losses(), why, ending, "",
                                result.losses.all_lost().others));
}

void Closing::print_total() const {
    if (plan_.options.reboots > 0) {
        print_output("{}: {} boots, {} of them incomplete\n",
                     incomplete_ == 0 ? "complete" : "incomplete", boots_, incomplete_);
    }
    std::fflush(stdout);
}

void Closing::boot_over(const TraceResult& result) {
    print_output("\n");
    print_tables(result);
    print_verdict(result,
                  result.doubts.empty() ? std::string(trace::engine_caveat(result.engine))
                                        : result.doubts,
                  abi::Ending::machine_reset);
    print_output("the next boot begins\n");
    std::fflush(stdout);
}

Status Closing::not_started(const RunEnd& stop) {
    const std::string why = stop.why.empty() ? "QEMU ended" : stop.why;
    print_message("mmioscope: {} before the hypervisor was ready{}\n", why,
                  boots_ > 0 ? fmt::format(" again, after boot {}", boots_) : "");
    write_message(lines_for_terminal(stop.report));
    if (plan_.serials.stream == plan_.board.hypervisor_serial && !plan_.board.one_serial()) {
        print_message(
            "the hypervisor uses the stream's UART for messages until it has read the device "
            "tree: the reason may be there, so try another --stream\n");
    }
    if (stop.report.empty()) {
        write_message(log_end("hypervisor's log", files_.hypervisor_log));
    }
    write_message(log_end("QEMU's messages", files_.messages));
    return trace::status_of(stop.ending, false);
}

Status Closing::end(const RunEnd& stop, const TraceResult& result, std::uint64_t not_printed) {
    print_output("{}\n", trace::not_printed_note(not_printed));
    print_tables(result);
    if (!plan_.options.console) {
        write_output(log_end("guest's console", files_.console_log));
    }
    print_output("{}", saved_note(plan_.options.output, boots_ + 1));
    write_message(lines_for_terminal(stop.report));
    if (stop.ending == abi::Ending::failed) {
        write_message(log_end("QEMU's messages", files_.messages));
    }
    print_verdict(result, why_incomplete(plan_, stop, result, files_), stop.ending);
    print_total();
    return status_of_output(trace::status_of(stop.ending, incomplete_ == 0));
}

} // namespace mmioscope::run
