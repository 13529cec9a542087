// The options that all commands share which read a trace.
#pragma once

#include "reading/trace.hpp"
#include "view/line.hpp"
#include "view/output.hpp"

#include <CLI/CLI.hpp>

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
    bool all = false; ///< nothing collapsed, on a terminal neither
    bool raw = false;
    std::vector<std::string> plugins; ///< files, whose filters are @names in -F
    reading::TraceOptions trace;      ///< but for its path and times
};

/// FILE, -i, -o, -F, --plugin, --cpu, --from, --to, --strict, and what gives names.
void add_view_options(CLI::App& command, ViewOptions& options);

/// --ts, --color, --all, --raw, of commands that print lines of events.
void add_line_options(CLI::App& command, ViewOptions& options);

/// What to read. Throws Error (bad_input) if FILE and -i are both given, or neither, or a time
/// makes no sense, or a plug-in is none.
reading::TraceOptions trace_options(const ViewOptions& options);

/// How lines are to look that go to `out`.
view::LineStyle line_style(const ViewOptions& options, const trace::TraceReader& reader,
                           const view::Output& out);

/// What --strict means: with it, throws Error (failed) at the first damaged part and at the first
/// record that tells of a loss. To be called with each event.
void check_strict(const ViewOptions& options, const reading::Trace& trace, const Event& event);

} // namespace mmioscope::cli
