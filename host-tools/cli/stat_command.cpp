#include "analysis/analyses.hpp"
#include "analysis/count_table.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "filter/plugins.hpp"
#include "records/ticks.hpp"

#include <algorithm>
#include <memory>
#include <sstream>

namespace mmioscope::cli::stat_command {

namespace {

using analysis::Counts;
using analysis::Key;

struct Options {
    ViewOptions view;
    std::vector<std::string> by;
    std::string sort = "accesses";
    std::size_t limit = 20;
    bool percentiles = false;
    std::vector<const analysis::AnalysisRow*> analyses;
    std::vector<std::string> plugged; ///< analyses of plug-ins
};

constexpr char footer[] = R"(
Prints one table for each of devices, registers, functions, callers, tasks, CPUs, interrupts and sizes, or only those
that --by names. Columns: accesses, accesses per second between the first and the last event read, and how long they
took. The last line is the total of all accesses, also of those without a line. Items without a name appear with their
number. The verdict goes to standard error. A table has the first 384 names, --mappings the first 256; a line below it, or
on standard error for programs, counts the accesses of others. --percentiles keeps 1 to 5 KiB for each name: more, the longer its longest access.

time % is the share of the time that all accesses took that are counted, guest % that of the guest's time: from the
trace's first record, or --from, to its last, or --to, whatever -F and --cpu select. Accesses of several CPUs add up.

Times (access s, mean us, p50 us, p99 us, max us) are those of the accesses: from just before an access, with its device
locked, until it is known to be done. They include the shadow engine's two switches to the guest and back, because the
trace has one number for both. They do not include the rest of the trap (entry, waiting for the lock, the record), which
is not in the trace. Interrupts have none: the time of an access to the GIC is no latency, which would need the time at
which the device raised the interrupt. No access shows that.

Examples:
  mmioscope stat boot.mmio
  mmioscope stat --by register --sort time --limit 0 boot.mmio
  mmioscope stat --by register --percentiles boot.mmio
  mmioscope stat --by caller,task --from 10 --to 11 boot.mmio
  mmioscope stat --by device --limit 0 --format csv boot.mmio
  mmioscope stat --by stack -F 'dev==gpio' boot.mmio   by the callers (mmioscope run --stack gpio)
  mmioscope stat --mappings boot.mmio                where devices were mapped, and by whom
  mmioscope stat --pci boot.mmio                     PCI functions, from the accesses to their configuration
  mmioscope stat --plugin ./example.so -F 'dev==mmc' --analysis 'latency(tick=16)' boot.mmio

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read.
)";

std::vector<Key> keys_of(const Options& options) {
    const bool other = !options.analyses.empty() || !options.plugged.empty();
    const auto named = [&](Key key) {
        return std::ranges::count(options.by, analysis::key_text(key)) > 0;
    };
    std::vector<Key> keys;
    for (const Key key : analysis::all_keys()) {
        if (named(key) || (options.by.empty() && !other)) {
            keys.push_back(key);
        }
    }
    if (named(Key::stack)) {
        keys.push_back(Key::stack);
    }
    return keys;
}

analysis::Order order_of(const std::string& word) {
    using analysis::Order;
    return word == "reads"     ? Order::reads
           : word == "writes"  ? Order::writes
           : word == "time"    ? Order::time
           : word == "latency" ? Order::latency
           : word == "name"    ? Order::name
                               : Order::accesses;
}

/// Counts the events.
class Work final : public reading::Consumer {
public:
    explicit Work(const Options& options)
        : counts(keys_of(options), analysis::most_names),
          durations(options.percentiles ? std::make_unique<analysis::Durations>(keys_of(options))
                                        : nullptr),
          plugged(filter::Plugins(options.view.plugins), options.plugged) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override {
        first = first.value_or(events.front().nanoseconds);
        last = std::max<std::uint64_t>(last, events.back().nanoseconds);
        if (!counts.keys().empty()) {
            counts.add_all(events);
        }
        for (const Event& event : durations ? events : std::span<const Event>()) {
            durations->add(event);
        }
        for (const Event& event : plugged.empty() ? std::span<const Event>() : events) {
            plugged.add(event);
        }
    }

    void forget() override { counts.forget(); }

    Counts counts;
    std::unique_ptr<analysis::Durations> durations; ///< null: no percentiles requested
    filter::PluggedAnalyses plugged;
    std::optional<std::uint64_t> first; ///< ns
    std::uint64_t last = 0;
};

// One table has one set of columns; plug-ins print what they like.
void check_format(const Options& options) {
    const std::size_t tables = options.analyses.size() + (options.by.empty() ? 0 : 1);
    if (options.view.format != "text" && (!options.plugged.empty() || tables > 1)) {
        std::string others;
        for (const analysis::AnalysisRow& row : analysis::analyses()) {
            others += fmt::format(", --{}", row.name);
        }
        throw bad_input("--format {} takes one of --by{}, and no --analysis", options.view.format,
                        others);
    }
}

// People see a table that they did not request by name only if it has rows.
std::vector<table::Table> tables_of(const Options& options, Work& work,
                                    const analysis::TableOptions& look) {
    std::vector<table::Table> tables;
    for (const Key key : work.counts.keys()) {
        const analysis::CountsByName& counts = work.counts.by(key);
        if (!counts.held().empty() || !options.by.empty() || options.view.format != "text") {
            tables.push_back(analysis::count_table(key, counts, look));
        }
    }
    return tables;
}

/// The nanoseconds from --from to --to, as far as the trace goes, whatever else is selected.
std::uint64_t guest_time(const reading::Trace& trace, std::uint32_t frequency) {
    const auto& [from, to] = std::pair(trace.options().from, trace.options().to);
    const std::uint64_t end = trace::nanoseconds(
        trace::elapsed(trace.reader().start().value_or(0), trace.latest()), frequency);
    return frequency == 0 ? 0
                          : trace::elapsed(from ? from->nanoseconds : 0,
                                           to ? std::min(to->nanoseconds, end) : end);
}

Status stat(const Options& options) {
    check_format(options);
    const reading::TraceOptions selection = trace_options(options.view);
    Work work(options);
    reading::Trace trace(selection);
    view::Output out(options.view.output);
    reading::Tally tally(reading::selects(selection));
    std::vector<reading::Consumer*> consumers{&tally, &work};
    std::vector<std::unique_ptr<analysis::Analysis>> analyses;
    for (const analysis::AnalysisRow* row : options.analyses) {
        consumers.push_back(analyses.emplace_back(row->make()).get());
        analyses.back()->begin(trace.reader());
    }
    reading::drive(trace, consumers, drive_options(options.view, "counted"));
    const std::uint32_t frequency =
        trace.reader().info() ? trace.reader().info()->counter_frequency : 0;
    const analysis::TableOptions look{
        order_of(options.sort),
        options.limit,
        frequency == 0 ? 0 : trace::elapsed(work.first.value_or(0), work.last),
        guest_time(trace, frequency),
        trace.reader().knows("duration") ? frequency : 0,
        options.view.format == "text",
        work.durations.get()};
    std::vector<table::Table> tables = tables_of(options, work, look);
    for (const auto& one : analyses) {
        tables.push_back(one->table());
    }
    std::ostringstream found;
    if (!work.plugged.empty()) {
        found << (tables.empty() ? "" : "\n");
        work.plugged.finish(found);
    }
    return finish_with_tables(options.view, tables, out, tally, trace.reader(), found.str());
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_during_option(command, options->view);
    add_values(command, "--by", options->by,
               "Print only these tables; separate several with commas", ',')
        ->check(one_of(analysis::key_words()));
    command.add_option("--sort", options->sort, "Sort by this, largest first (default accesses)")
        ->check(one_of({"accesses", "reads", "writes", "time", "latency", "name"}));
    add_count(command, "-n,--limit", options->limit, "Lines per table (default 20; 0: all)");
    command.add_flag("--percentiles", options->percentiles,
                     "Add the 50th and the 99th percentile of access times, to within 1/32");
    add_wide_option(command, options->view);
    add_format_option(command, options->view, "one table row per line, numbers not rounded");
    for (const analysis::AnalysisRow& row : analysis::analyses()) {
        command.add_flag_callback(
            fmt::format("--{}", row.name), [&to = options->analyses, &row] { to.push_back(&row); },
            row.help);
    }
    add_values(command, "--analysis", options->plugged,
               "Run an analysis of a plug-in: NAME or NAME(KEY=VALUE,...); may be repeated")
        ->type_name("NAME");
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return stat(*options); };
}

} // namespace

const Command row{"stat", "Count a trace's accesses", add};

} // namespace mmioscope::cli::stat_command
