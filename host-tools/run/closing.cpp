#include "run/closing.hpp"

#include "lib/device_names.hpp"
#include "lib/record_text.hpp"
#include "lib/report.hpp"

#include <unistd.h>

namespace mmioscope::run {

namespace {

constexpr std::uint64_t lines_nobody_watches = 200;
constexpr std::size_t log_lines = 15;

void print_log_end(std::FILE* to, const char* what, const FileDescriptor& file) {
    const std::string text = last_lines(LogFile(file.get()).text(), log_lines);
    if (!text.empty()) {
        fmt::print(to, "{}, last lines:\n{}", what, text);
    }
}

Status status_of(const Stop& stop, bool complete) {
    if (stop.ending == abi::Ending::interrupted) {
        return Status::interrupted;
    }
    return complete ? Status::fine : Status::failed;
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

void print_not_printed(std::uint64_t events) {
    if (events > 0) {
        fmt::print("... {} more events, not printed (use --all)\n", events);
    }
}

} // namespace

bool prints(const Options& options) {
    return options.print.value_or(!options.console);
}

trace::PrintOptions print_options(const Options& options) {
    trace::PrintOptions print;
    print.collapse = !options.all;
    if (!options.all && ::isatty(STDOUT_FILENO) == 0) {
        print.limit = lines_nobody_watches;
    }
    return print;
}

Status report_not_started(const Stop& stop, const RunFiles& files) {
    const std::string why = stop.why.empty() ? "QEMU ended" : stop.why;
    fmt::print(stderr, "mmioscope: {} before the hypervisor was ready\n", why);
    fmt::print(stderr, "{}", stop.report);
    if (stop.report.empty()) {
        print_log_end(stderr, "hypervisor's log", files.hypervisor_log);
    }
    print_log_end(stderr, "QEMU's messages", files.messages);
    return status_of(stop, false);
}

Status report_end(const Plan& plan, const Stop& stop, const TraceResult& result,
                  const RunFiles& files, std::uint64_t not_printed) {
    const trace::DeviceNames names(result.regions, plan.tree);
    const trace::LineContext context{&names, result.summary.start().value_or(0),
                                     result.counter_frequency};
    print_not_printed(not_printed);
    fmt::print("\n{}", trace::device_table(result.summary, context));
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
    return status_of(stop, why.empty() && result.losses.lost() == 0);
}

} // namespace mmioscope::run
