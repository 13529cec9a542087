// The options shared by all commands that read a trace.
#pragma once

#include "analysis/merging.hpp"
#include "reading/drive.hpp"
#include "reading/tally.hpp"
#include "table/table.hpp"
#include "view/dmesg_lines.hpp"
#include "view/line.hpp"
#include "view/live_printer.hpp"
#include "view/print_output.hpp"
#include "view/printer.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::cli {

struct ViewOptions {
    std::string file;  ///< positional
    std::string input; ///< -i
    std::string output;
    std::string from, to; ///< times; empty: all
    std::string during;   ///< a function; empty: all
    std::string time = "rel";
    std::string format = "text";
    std::string color = "auto";
    bool strict = false;
    std::optional<bool> collapse; ///< merge repeats; nothing: in lines on a terminal
    bool fold = false;            ///< merge polls in every output
    bool all = false;             ///< do not collapse, even on a terminal
    bool raw = false;
    bool wide = false; ///< do not cut lines on a terminal
    bool duration = false;
    std::vector<std::string> columns; ///< names; empty: the usual ones
    bool changes = false;             ///< only values that differ from the last ones
    bool verbose = false;             ///< include the hypervisor's own accesses
    std::string gap;                  ///< a time; empty: usual_gap on a terminal
    bool pager = true;
    std::vector<std::string> plugins;          ///< files whose filters are @names in -F
    std::vector<const CLI::Option*> for_lines; ///< that change lines of events, and nothing else
    bool with_dmesg = false;
    std::string dmesg; ///< file; empty: the trace's own
    std::optional<double> dmesg_offset;
    reading::TraceOptions trace; ///< without its path and times
};

/// All of these, and the options for names.
void add_view_options(CLI::App& command, ViewOptions& options);

/// FILE, -i.
void add_input_options(CLI::App& command, ViewOptions& options);

/// --one-file.
void add_one_file_option(CLI::App& command, ViewOptions& options);

/// -F, --plugin, --cpu.
void add_event_options(CLI::App& command, ViewOptions& options);

/// --during.
void add_during_option(CLI::App& command, ViewOptions& options);

/// --format; `what`: the formats other than text.
void add_format_option(CLI::App& command, ViewOptions& options, const char* what);

/// --from, --to.
void add_range_options(CLI::App& command, ViewOptions& options);

/// --strict.
void add_strict_option(CLI::App& command, ViewOptions& options);

/// --collapse, --fold.
void add_merge_options(CLI::App& command, ViewOptions& options);

/// Merges events as these options say, and passes them on to another consumer.
class Merging {
public:
    /// Passes to `next` what is left. It outlives this.
    Merging(const ViewOptions& options, reading::Consumer& next);
    /// The first consumer.
    reading::Consumer& first() { return *first_; }

private:
    std::optional<analysis::Collapse> collapse_;
    std::optional<analysis::Fold> fold_;
    reading::Consumer* first_;
};

/// --columns, --changes.
void add_column_options(CLI::App& command, ViewOptions& options);

/// --no-pc.
void add_code_option(CLI::App& command, ViewOptions& options);

/// --dmesg, with this help, and --dmesg-offset.
void add_dmesg_options(CLI::App& command, ViewOptions& options, const std::string& help);

/// The kernel's log, if these ask for it, for what `selection` takes of a trace. Reads that once.
std::optional<view::DmesgLines> dmesg_lines(const ViewOptions& options,
                                            const reading::TraceOptions& selection);

/// --no-pager.
void add_pager_option(CLI::App& command, ViewOptions& options);

/// Whether output to `out` may go through a pager.
bool pages(const ViewOptions& options, const view::Output& out);

/// --wide.
void add_wide_option(CLI::App& command, ViewOptions& options);

/// --ts, --color, --raw: the look of event lines.
void add_look_options(CLI::App& command, ViewOptions& options);

/// These, and the other options of commands that print lines of a whole trace: --duration, --gap,
/// --wide, --verbose and --all.
void add_line_options(CLI::App& command, ViewOptions& options);

/// All options that choose what is printed while it is being recorded, and how. Without these lines
/// none of them changes anything, except -v and --wide (for_lines).
void add_live_options(CLI::App& command, ViewOptions& options);

/// Throws Error (bad_input), with `why` behind its name, if one of ViewOptions::for_lines was
/// given.
void check_no_lines(const ViewOptions& options, const std::string& why);

/// The time that `text` gives, or nothing if it is empty. Throws Error (bad_input), with `name` in
/// front, if it is not a time.
std::optional<reading::Moment> time_of(const char* name, const std::string& text);

/// What --from, -F, --plugin and the others select, in any trace. Throws Error (bad_input) for an
/// invalid time, range or plug-in.
reading::TraceOptions selection(const ViewOptions& options);

/// How to print a trace on standard output while it is being recorded. Throws Error (bad_input) for
/// an invalid option.
view::LiveOptions live_options(const ViewOptions& options);

/// What the options choose, as on a command line; empty: the whole trace.
std::string chosen_words(const ViewOptions& options);

/// What to read. Throws Error (bad_input) if FILE and -i are both given or both missing, if -o is
/// one of the input files, or for an invalid time or plug-in.
reading::TraceOptions trace_options(const ViewOptions& options);
/// The same for a command that takes a device before the trace. If the trace alone was given, as
/// `device`, the error lists the devices that it has accesses to.
reading::TraceOptions trace_options(const ViewOptions& options, const std::string& device);
/// The same for `command`, which reads the trace twice, and so not from a pipe.
reading::TraceOptions file_options(const ViewOptions& options, std::string_view command);

/// Whether to show the hypervisor's own accesses, too. A filter decides that itself.
bool shows_own(const ViewOptions& options);

/// What to print in lines that go to `out`. Throws Error (bad_input) for an invalid --gap.
view::PrintOptions print_options(const ViewOptions& options, const view::Output& out);

/// The look of lines that go to `out`.
view::LineStyle line_style(const ViewOptions& options, const trace::TraceReader& reader,
                           const view::Output& out);

/// The width in characters of lines and tables that go to `out`: table::unlimited with --wide.
std::size_t width(const ViewOptions& options, const view::Output& out);

/// How to read a trace: --strict, and the progress shown on a terminal (DriveOptions).
reading::DriveOptions drive_options(const ViewOptions& options, const char* progress);

/// Prints `tables` as --format says, text with the short `names` of devices. For CSV all of them
/// must have the same columns.
void print_tables(const ViewOptions& options, std::span<const table::Table> tables,
                  const view::Output& out, const tree::ShortNames& names = {});

/// Prints `tables`, perhaps through a pager, and the verdict on standard error, and returns the
/// exit status. `more`: text after the tables.
Status finish_with_tables(const ViewOptions& options, std::span<const table::Table> tables,
                          view::Output& out, const reading::Tally& tally,
                          const trace::TraceReader& reader, const std::string& more = {});

/// Reads `trace` for `consumer`, then finish_with_tables() with the table that `table_of` returns.
Status print_table(const ViewOptions& options, reading::Trace& trace, reading::Consumer& consumer,
                   const std::function<table::Table()>& table_of,
                   reading::Losses losses = reading::Losses::records);

} // namespace mmioscope::cli
