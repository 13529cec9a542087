// The options that all commands share which read a trace.
#pragma once

#include "reading/drive.hpp"
#include "table/table.hpp"
#include "view/line.hpp"
#include "view/live_options.hpp"
#include "view/output.hpp"
#include "view/printer.hpp"

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <vector>

namespace mmioscope::cli {

struct ViewOptions {
    std::string file;  ///< positional
    std::string input; ///< -i
    std::string output;
    std::string from, to; ///< times; empty: all
    std::string time = "rel";
    std::string format = "text";
    std::string color = "auto";
    bool strict = false;
    bool collapse = false; ///< repeats are one event, wherever they go
    bool all = false;      ///< nothing collapsed, on a terminal neither
    bool raw = false;
    bool wide = false; ///< lines as long as they are, on a terminal, too
    bool duration = false;
    bool verbose = false; ///< what the hypervisor did itself, too
    std::string gap;      ///< a time; empty: usual_gap on a terminal
    bool pager = true;
    std::vector<std::string> plugins; ///< files, whose filters are @names in -F
    reading::TraceOptions trace;      ///< but for its path and times
};

/// All of these, and what gives names.
void add_view_options(CLI::App& command, ViewOptions& options);

/// FILE, -i.
void add_input_options(CLI::App& command, ViewOptions& options);

/// --one-file.
void add_one_file_option(CLI::App& command, ViewOptions& options);

/// -F, --plugin, --cpu.
void add_event_options(CLI::App& command, ViewOptions& options);

/// --format: `what` the formats but text are.
void add_format_option(CLI::App& command, ViewOptions& options, const char* what);

/// --from, --to.
void add_range_options(CLI::App& command, ViewOptions& options);

/// --strict.
void add_strict_option(CLI::App& command, ViewOptions& options);

/// --collapse.
void add_collapse_option(CLI::App& command, ViewOptions& options);

/// --no-pc.
void add_code_option(CLI::App& command, ViewOptions& options);

/// --no-pager.
void add_pager_option(CLI::App& command, ViewOptions& options);

/// Whether what goes to `out` may go through a pager.
bool pages(const ViewOptions& options, const view::Output& out);

/// --ts, --color, --raw: what lines of events look like.
void add_look_options(CLI::App& command, ViewOptions& options);

/// These, and the others of commands that print lines of a whole trace: --duration, --gap, --wide,
/// --verbose and --all.
void add_line_options(CLI::App& command, ViewOptions& options);

/// All that choose what is printed while it is recorded, and how.
void add_live_options(CLI::App& command, ViewOptions& options);

/// What --from, -F, --plugin and the others choose, of whatever trace. Throws Error (bad_input) if
/// a time or a range makes no sense, or a plug-in is none.
reading::TraceOptions selection(const ViewOptions& options);

/// How a trace is printed on standard output while it is recorded. Throws Error (bad_input) if a
/// choice makes no sense.
view::LiveOptions live_options(const ViewOptions& options);

/// What to read. Throws Error (bad_input) if FILE and -i are both given, or neither, or -o is one
/// of the files that are read, or a time makes no sense, or a plug-in is none.
reading::TraceOptions trace_options(const ViewOptions& options);

/// Whether lines are of the hypervisor's own accesses, too. Whoever filters says what is wanted.
bool shows_own(const ViewOptions& options);

/// What lines that go to `out` are made of. Throws Error (bad_input) if --gap makes no sense.
view::PrintOptions print_options(const ViewOptions& options, const view::Output& out);

/// How lines are to look that go to `out`.
view::LineStyle line_style(const ViewOptions& options, const trace::TraceReader& reader,
                           const view::Output& out);

/// How a trace is read: --strict, and what a terminal is told of the progress (DriveOptions).
reading::DriveOptions drive_options(const ViewOptions& options, const char* progress);

/// Prints `tables` as --format says; as CSV such that have the same columns.
void print_tables(const ViewOptions& options, std::span<const table::Table> tables,
                  const view::Output& out);

} // namespace mmioscope::cli
