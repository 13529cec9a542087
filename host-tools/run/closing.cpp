#include "run/closing.hpp"

#include "lib/device_names.hpp"
#include "lib/record_text.hpp"
#include "lib/report.hpp"

#include <unistd.h>

namespace mmioscope::run {

namespace {

constexpr std::size_t log_lines = 15;

void print_log_end(std::FILE* to, const char* what, const FileDescriptor& file) {
    const std::string text = last_lines(LogFile(file.get()).text(), log_lines);
    if (!text.empty()) {
        fmt::print(to, "{}, last lines:\n{}", what, text);
    }
}

bool said(const std::string& expected, const RunFiles& files) {
    return expected.empty() || LogFile(files.console_log.get()).contains(expected);
}

std::string why_incomplete(const Plan& plan, const Stop& stop, const TraceResult& result,
                           const RunFiles& files) {
    if (!stop.why.empty()) {
        return stop.why;
    }
    if (!result.doubts.empty()) {
        return result.doubts;
    }
    if (!said(plan.options.expect, files)) {
        return fmt::format("the guest's console did not say '{}'", plan.options.expect);
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

Status report_not_started(const Stop& stop, const RunFiles& files) {
    const std::string why = stop.why.empty() ? "QEMU ended" : stop.why;
    fmt::print(stderr, "mmioscope: {} before the hypervisor was ready\n", why);
    fmt::print(stderr, "{}", stop.report);
    if (stop.report.empty()) {
        print_log_end(stderr, "hypervisor's log", files.hypervisor_log);
    }
    print_log_end(stderr, "QEMU's messages", files.messages);
    return trace::status_of(stop.ending, false);
}

Status report_end(const Plan& plan, const Stop& stop, const TraceResult& result,
                  const RunFiles& files, std::uint64_t not_printed) {
    const trace::DeviceNames names(result.regions, plan.tree);
    const trace::LineContext context{&names, result.summary.start().value_or(0),
                                     result.counter_frequency};
    fmt::print("{}\n{}", trace::not_printed_note(not_printed),
               trace::device_table(result.summary, context));
    fmt::print("{}", trace::other_counts(result.summary, result.statistics));
    if (!plan.options.console) {
        print_log_end(stdout, "guest's console", files.console_log);
    }
    if (!plan.options.output.empty()) {
        fmt::print("trace saved in {}\n", plan.options.output);
    }
    fmt::print(stderr, "{}", stop.report);
    if (stop.ending == abi::Ending::failed) {
        print_log_end(stderr, "QEMU's messages", files.messages);
    }
    const std::string why = why_incomplete(plan, stop, result, files);
    fmt::print("{}\n", trace::verdict(result.summary, result.losses.losses(), why));
    std::fflush(stdout);
    return trace::status_of(stop.ending, why.empty() && result.losses.lost() == 0);
}

} // namespace mmioscope::run
