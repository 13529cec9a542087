#include "cli/commands.hpp"
#include "cli/trace_input.hpp"
#include "lib/loss_counter.hpp"
#include "lib/printer.hpp"
#include "lib/record_text.hpp"
#include "lib/report.hpp"
#include "lib/shares.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace mmioscope::cli {

namespace {

struct Options {
    std::string file;
    bool all = false;
    bool summary = false;
    bool shares = false;
    int cpu = -1;
    std::optional<std::uint64_t> limit;
};

trace::PrintOptions print_options(const Options& options) {
    trace::PrintOptions print;
    print.collapse = !options.all && ::isatty(STDOUT_FILENO) != 0;
    print.cpu = options.cpu;
    print.limit = options.summary ? 0 : options.limit.value_or(print.limit);
    return print;
}

std::string caveat(const trace::TraceReader& reader) {
    return reader.info() ? std::string(trace::engine_caveat(reader.info()->engine)) : "";
}

std::string why_incomplete(const trace::TraceReader& reader) {
    if (!reader.end()) {
        return "the trace is cut off";
    }
    if (!reader.sound()) {
        return "the trace is damaged";
    }
    if (reader.end()->ending == abi::Ending::stream_ended) {
        return "the stream broke off: what came behind is not known";
    }
    return caveat(reader);
}

// What the recorder wrote about losses; where that is gone, what can be seen in the records.
std::span<const abi::Loss> losses(const trace::TraceReader& reader,
                                  const trace::LossCounter& seen) {
    return reader.sound() ? reader.losses() : std::span(seen.losses());
}

void print_end(const trace::TraceReader& reader, const trace::Summary& summary,
               const trace::LineContext& context, const trace::LossCounter& seen) {
    fmt::print("\n{}{}", trace::device_table(summary, context),
               trace::other_counts(summary, reader.statistics()));
    if (reader.end()) {
        fmt::print("recording ended: {}\n", trace::ending_text(reader.end()->ending));
    }
    const auto policy = reader.info() ? std::optional(reader.info()->policy) : std::nullopt;
    fmt::print("{}\n{}\n", summary.policies().line(policy),
               trace::verdict(summary, losses(reader, seen), why_incomplete(reader)));
}

Status print(const Options& options) {
    TraceInput input(options.file);
    trace::TraceReader& reader = input.reader();
    auto records = reader.next();
    const trace::LineContext context{&reader.names(), records.empty() ? 0 : records.front().time,
                                     reader.info() ? reader.info()->counter_frequency : 0};
    trace::Printer printer(stdout, print_options(options), context);
    trace::Summary summary;
    trace::Shares shares;
    trace::LossCounter seen(1);
    for (; !records.empty(); records = reader.next()) {
        summary.add(records);
        if (options.shares) {
            shares.add(records);
        }
        printer.add(records);
        std::for_each(records.begin(), records.end(),
                      [&seen](const abi::Record& record) { seen.add(record); });
    }
    printer.finish();
    if (!options.summary && printer.not_printed() > 0) {
        fmt::print("... {} more events, not printed\n", printer.not_printed());
    }
    if (options.shares) {
        fmt::print("\n{}", shares.table(context));
    }
    print_end(reader, summary, context, seen);
    if (!reader.end()) {
        fmt::print(stderr, "mmioscope: warning: the trace is cut off; what is above is right\n");
    }
    const bool whole = reader.sound() && reader.end()->lost == 0 && why_incomplete(reader).empty();
    return whole ? Status::fine : Status::failed;
}

} // namespace

void add_print(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand("print", "Print a saved trace");
    const auto options = std::make_shared<Options>();
    command.add_option("file", options->file, "Trace file; - for standard input")->required();
    command.add_flag("--all", options->all, "Each record, also on a terminal");
    command.add_flag("--summary", options->summary, "Only the table and the verdict");
    command.add_flag("--shares", options->shares,
                     "What each CPU had of devices that several use, and how long it waited");
    command.add_option("--cpu", options->cpu, "Lines of this CPU only")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--limit", options->limit, "At most so many lines");
    command.footer("\nExit status 0 only if the trace is whole and nothing was lost.");
    command.callback([options, &action] { action = [options] { return print(*options); }; });
}

} // namespace mmioscope::cli
