#include "cli/view_options.hpp"

#include "analysis/calls.hpp"
#include "cli/option_types.hpp"
#include "file/part_files.hpp"
#include "filter/plugins.hpp"
#include "system/error.hpp"
#include "system/message.hpp"
#include "system/open_source.hpp"
#include "system/replaced_file.hpp"
#include "system/units.hpp"
#include "view/short_tables.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace mmioscope::cli {

namespace {

// All files that are read for a trace. Arguments such as FILE@ADDRESS do not count as files.
std::vector<std::string> inputs(const std::string& path, const ViewOptions& options) {
    std::vector<std::string> all{path, options.trace.tree, options.dmesg};
    if (!options.trace.one_file) {
        const std::vector<std::string> parts = trace::part_paths(path);
        all.insert(all.end(), parts.begin(), parts.end());
    }
    for (const auto* files : {&options.trace.symbols, &options.trace.registers, &options.plugins}) {
        all.insert(all.end(), files->begin(), files->end());
    }
    return all;
}

// The user's choice overrides the environment (no-color.org).
bool wants_color(const std::string& choice, const view::Output& out) {
    const char* none = std::getenv("NO_COLOR");
    const bool quiet = none != nullptr && *none != 0;
    return choice == "always" || (choice == "auto" && !quiet && out.terminal());
}

} // namespace

void add_view_options(CLI::App& command, ViewOptions& options) {
    add_input_options(command, options);
    add_one_file_option(command, options);
    add_file(command, "-o,--output", options.output, "Output file (default: standard output)");
    add_event_options(command, options);
    add_range_options(command, options);
    add_name_options(command, options.trace);
    add_strict_option(command, options);
    add_code_option(command, options);
}

void add_input_options(CLI::App& command, ViewOptions& options) {
    command.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    command.add_option("file", options.file, "Trace file; - for standard input");
    add_file(command, "-i,--input", options.input, "Trace file, instead of the argument");
}

void add_one_file_option(CLI::App& command, ViewOptions& options) {
    command.add_flag("--one-file", options.trace.one_file,
                     "Read only FILE, not the files that follow it (record --rotate)");
}

void add_event_options(CLI::App& command, ViewOptions& options) {
    command
        .add_option("-F,--filter", options.trace.filter,
                    "Only events that match this filter (mmioscope-filter(7)); help lists its "
                    "fields")
        ->check(not_empty())
        ->each([](const std::string& text) {
            if (text == "help") {
                throw CLI::CallForVersion(filter::list_of_fields(), 0);
            }
        })
        ->type_name("EXPR");
    add_values(command, "--plugin", options.plugins,
               "Load a plug-in with filters (@name in -F) and analyses; may be repeated")
        ->check(not_empty())
        ->type_name("FILE");
    add_cpus(command, options.trace.cpus);
}

void add_during_option(CLI::App& command, ViewOptions& options) {
    command
        .add_option("--during", options.during,
                    "Only what was done between the calls of this function and their returns (run "
                    "--probe, --returns), as in -F func==; not by interrupts")
        ->check(not_empty())
        ->type_name("FUNCTION");
}

void add_format_option(CLI::App& command, ViewOptions& options, const char* what) {
    command
        .add_option("--format", options.format,
                    fmt::format("Output format (default text); jsonl and csv have {}", what))
        ->check(one_of({"text", "jsonl", "csv"}));
}

void add_range_options(CLI::App& command, ViewOptions& options) {
    command
        .add_option(
            "--from", options.from,
            "Only events from this time on, in seconds or with a unit (1.5, 20ms); with @ in "
            "front, a time of the machine's counter, as --ts abs prints it (@18.04); mark:NAME: "
            "from the first mark of that name on")
        ->check(not_empty())
        ->type_name("TIME");
    command
        .add_option("--to", options.to, "Only events before this time, or this mark behind --from")
        ->check(not_empty())
        ->type_name("TIME");
}

void add_dmesg_options(CLI::App& command, ViewOptions& options, const std::string& help) {
    const CLI::Option* const dmesg =
        command.add_option("--dmesg", options.dmesg, help + " (default LOG: the trace's console)")
            ->expected(0, 1)
            ->type_name("[LOG]");
    command
        .add_option("--dmesg-offset", options.dmesg_offset,
                    "printk's time 0, in the trace's time (default: found from the trace)")
        ->check(seconds_from(-1e9))
        ->type_name("SECONDS");
    command.parse_complete_callback([&options, dmesg] {
        options.with_dmesg = dmesg->count() > 0;
        if (options.with_dmesg && options.file.empty() && options.input.empty()) {
            std::swap(options.file, options.dmesg); // `--dmesg TRACE` alone
        }
    });
}

std::optional<view::DmesgLines> dmesg_lines(const ViewOptions& options,
                                            const reading::TraceOptions& selection) {
    if (options.dmesg_offset && !options.with_dmesg) {
        throw bad_input("--dmesg-offset needs --dmesg");
    }
    std::optional<std::int64_t> offset;
    if (options.dmesg_offset) {
        offset = std::llround(*options.dmesg_offset * 1e9);
    }
    return options.with_dmesg ? std::optional(view::DmesgLines(options.dmesg, offset, selection))
                              : std::nullopt;
}

void add_strict_option(CLI::App& command, ViewOptions& options) {
    command.add_flag("--strict", options.strict, "Stop at the first damage or loss");
}

void add_merge_options(CLI::App& command, ViewOptions& options) {
    add_switch(command, "collapse", options.collapse,
               "Merge accesses to a register, in each quarter second, that are equal in all but "
               "time into one event with a count");
    command.add_flag("--fold", options.fold,
                     "Merge the accesses of each poll into one event (mmioscope polls)");
}

Merging::Merging(const ViewOptions& options, reading::Consumer& next) : first_(&next) {
    if (options.collapse.value_or(false)) {
        first_ = &collapse_.emplace(analysis::Collapse::usual_window, *first_);
    }
    if (options.fold) {
        first_ = &fold_.emplace(*first_);
    }
}

void add_column_options(CLI::App& command, ViewOptions& options) {
    add_values(command, "--columns", options.columns,
               "Print these columns of an access, in this order; separate them with commas", ',')
        ->check(one_of({view::column_names.begin(), view::column_names.end()}));
    command.add_flag(
        "--changes", options.changes,
        "Print only accesses that change their register's last value, and what changed");
}

void add_code_option(CLI::App& command, ViewOptions& options) {
    command.add_flag("--no-pc", options.trace.no_pc,
                     "Leave out code addresses and names of functions");
}

void add_pager_option(CLI::App& command, ViewOptions& options) {
    command.add_flag("--pager,!--no-pager", options.pager,
                     "Long output on a terminal goes through MMIOSCOPE_PAGER, PAGER or less "
                     "(default)");
}

bool pages(const ViewOptions& options, const view::Output& out) {
    return options.pager && out.terminal() && out.file() == stdout;
}

void add_wide_option(CLI::App& command, ViewOptions& options) {
    command.add_flag("--wide", options.wide,
                     "Print whole names and lines on a terminal, however long they are");
}

void add_look_options(CLI::App& command, ViewOptions& options) {
    options.for_lines = {
        command
            .add_option("--ts", options.time,
                        "Times: abs (the machine's counter), rel (since the first record; "
                        "default), delta (since the previous line)")
            ->check(one_of({"abs", "rel", "delta"})),
        command.add_option("--color", options.color, "Use colours (default auto: on a terminal)")
            ->check(one_of({"auto", "always", "never"})),
        command.add_flag("--raw", options.raw, "Print numbers instead of names")};
}

void add_line_options(CLI::App& command, ViewOptions& options) {
    add_look_options(command, options);
    options.for_lines.push_back(command.add_flag(
        "--duration", options.duration, "Print how long each access took, at the end of its line"));
    options.for_lines.push_back(
        command
            .add_option("--gap", options.gap,
                        "Mark gaps of at least this length with a line (default: 100ms on a "
                        "terminal; 0: never)")
            ->check(not_empty())
            ->type_name("TIME"));
    command.add_flag("-v,--verbose", options.verbose,
                     "Print the hypervisor's own accesses and counters, too");
    add_wide_option(command, options);
    command.add_flag(
        "--all", options.all,
        "Print every record, including the hypervisor's own, without collapsing or limit");
}

void add_live_options(CLI::App& command, ViewOptions& options) {
    const std::size_t others = command.get_options().size();
    add_event_options(command, options);
    add_range_options(command, options);
    add_registers(command, options.trace.registers);
    add_code_option(command, options);
    add_line_options(command, options);
    const std::vector<CLI::Option*> all = command.get_options();
    options.for_lines.assign(all.begin() + static_cast<std::ptrdiff_t>(others), all.end());
    std::erase_if(options.for_lines, [](const CLI::Option* option) {
        return option->get_name() == "--verbose" || option->get_name() == "--wide";
    });
}

void check_no_lines(const ViewOptions& options, const std::string& why) {
    for (const CLI::Option* option : options.for_lines) {
        if (option->count() > 0) {
            throw bad_input("{}: {}", option->get_name(), why);
        }
    }
}

reading::TraceOptions selection(const ViewOptions& options) {
    reading::TraceOptions trace = options.trace;
    if (!options.plugins.empty()) {
        trace.settings.custom = [plugins = std::make_shared<filter::Plugins>(options.plugins)](
                                    const auto& name, const auto& custom) {
            return plugins->filter(name, custom);
        };
    }
    if (!options.during.empty()) { // the calls are needed, too, whatever else is selected
        trace.filter = fmt::format("({}) || call || ret",
                                   trace.filter.empty() ? "call || !call" : trace.filter);
    }
    trace.from = time_of("--from", options.from);
    trace.to = time_of("--to", options.to);
    const reading::Moment from = trace.from.value_or(reading::Moment(0));
    if (trace.to && from.mark.empty() && trace.to->mark.empty() &&
        from.of_counter == trace.to->of_counter && trace.to->nanoseconds <= from.nanoseconds) {
        throw bad_input("--from {} --to {}: no time is between them",
                        options.from.empty() ? "0" : options.from, options.to);
    }
    return trace;
}

std::optional<reading::Moment> time_of(const char* name, const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    if (constexpr std::string_view mark = "mark:"; text.starts_with(mark)) {
        if (text.size() == mark.size()) {
            throw bad_input("{} {}: the mark's name is missing", name, text);
        }
        return reading::Moment(text.substr(mark.size()));
    }
    const bool of_counter = text.front() == '@';
    const std::optional<std::uint64_t> time =
        parse_duration(std::string_view(text).substr(of_counter ? 1 : 0));
    if (!time) {
        throw bad_input(
            "{} {}: not a time: use seconds, or a unit (s, ms, us, ns, m or h); @ in front: "
            "time of the machine's counter; mark:NAME: that of a mark",
            name, text);
    }
    return reading::Moment(*time, of_counter);
}

reading::TraceOptions trace_options(const ViewOptions& options, const std::string& device) {
    std::error_code problem;
    if (!options.file.empty() || !options.input.empty() ||
        !std::filesystem::is_regular_file(device, problem)) {
        return trace_options(options);
    }
    reading::TraceOptions whole;
    whole.path = device;
    reading::Trace trace(whole);
    reading::Tally tally(false);
    reading::drive(trace, {&tally});
    std::vector<std::string> names;
    for (const auto& [region, count] : tally.summary().devices()) {
        if (region != abi::no_device) {
            names.emplace_back(trace.reader().names()[region]);
        }
    }
    throw bad_input("no device given; those of {}: {}", device, fmt::join(names, ", "));
}

std::string chosen_words(const ViewOptions& view) {
    std::string words;
    const auto add = [&words](std::string_view option, const std::string& value) {
        words +=
            value.empty() ? "" : fmt::format("{}{}{}", words.empty() ? "" : " ", option, value);
    };
    add("--from ", view.from);
    add("--to ", view.to);
    add("--cpu ", fmt::format("{}", fmt::join(view.trace.cpus, ",")));
    add("-F ", view.trace.filter);
    add("--during ", view.during);
    add("", view.trace.one_file ? "--one-file" : "");
    add("", view.trace.no_pc ? "--no-pc" : "");
    return words;
}

reading::TraceOptions trace_options(const ViewOptions& options) {
    if (options.file.empty() && options.input.empty()) {
        throw bad_input("no trace given: name a file, or - for standard input");
    }
    if (!options.file.empty() && !options.input.empty()) {
        throw bad_input("two traces given: {} and -i {}", options.file, options.input);
    }
    if (options.format != "text") {
        check_no_lines(options, fmt::format("changes lines of text, and --format {} has none: "
                                            "leave it out",
                                            options.format));
    }
    reading::TraceOptions trace = selection(options);
    trace.path = options.file.empty() ? options.input : options.file;
    check_distinct(options.output.empty() ? "-" : options.output,
                   [&] { return inputs(trace.path, options); });
    return trace;
}

reading::TraceOptions file_options(const ViewOptions& options, std::string_view command) {
    reading::TraceOptions trace = trace_options(options);
    if (reads_once(trace.path)) {
        throw bad_input("{}: {} reads the trace twice: save it to a file first",
                        trace.path == "-" ? "standard input" : trace.path, command);
    }
    return trace;
}

bool shows_own(const ViewOptions& options) {
    return options.verbose || options.all || !options.trace.filter.empty();
}

view::PrintOptions print_options(const ViewOptions& options, const view::Output& out) {
    constexpr std::uint64_t usual_gap = 100'000'000; // ns
    view::PrintOptions print;
    print.collapse = options.collapse.value_or(!options.all && out.terminal());
    print.own = shows_own(options);
    print.gap = !options.gap.empty() ? duration_of("--gap", options.gap)
                : out.terminal()     ? usual_gap
                                     : 0;
    return print;
}

namespace {

/// Changes have a line of their own; --no-pc leaves out its columns.
std::vector<view::Column> columns_of(const ViewOptions& options) {
    std::vector<view::Column> columns;
    for (std::size_t i = 0; i < view::column_names.size(); ++i) {
        const auto column = static_cast<view::Column>(i);
        if (options.changes && options.columns.empty() && column != view::Column::duration) {
            columns.push_back(column);
        }
    }
    for (const std::string& name : options.columns) {
        const auto found = std::ranges::find(view::column_names, name);
        columns.push_back(static_cast<view::Column>(found - view::column_names.begin()));
    }
    std::erase_if(columns, [&options](view::Column column) {
        return options.trace.no_pc &&
               (column == view::Column::function || column == view::Column::caller);
    });
    return columns;
}

void choose(view::LineStyle& style, const ViewOptions& options, const view::Output& out) {
    style.time = options.time == "abs"     ? view::TimeStyle::absolute
                 : options.time == "delta" ? view::TimeStyle::delta
                                           : view::TimeStyle::relative;
    style.color = wants_color(options.color, out);
    style.pc = style.pc && !options.trace.no_pc;
    style.raw = options.raw;
    style.columns = columns_of(options);
    const bool took =
        std::ranges::find(style.columns, view::Column::duration) != style.columns.end();
    style.duration = options.duration || took;
    if (options.duration && !style.columns.empty() && !took) {
        style.columns.push_back(view::Column::duration);
    }
    style.changes = options.changes;
    style.named = style.named || !options.trace.registers.empty() || !options.trace.tree.empty();
}

} // namespace

view::LineStyle line_style(const ViewOptions& options, const trace::TraceReader& reader,
                           const view::Output& out) {
    view::LineStyle style = view::style_of(reader);
    choose(style, options, out);
    style.duration = style.duration && reader.knows("duration");
    if (width(options, out) != table::unlimited) {
        view::fit(style, reader, out.width());
    }
    return style;
}

view::LiveOptions live_options(const ViewOptions& options) {
    const view::Output out("-");
    view::LiveOptions live{
        options.all, options.verbose, print_options(options, out), selection(options), {}};
    reading::check(live.events);
    choose(live.look, options, out);
    live.look.width = width(options, out);
    return live;
}

std::size_t width(const ViewOptions& options, const view::Output& out) {
    return options.wide ? table::unlimited : out.width();
}

reading::DriveOptions drive_options(const ViewOptions& options, const char* progress) {
    reading::DriveOptions drive;
    drive.strict = options.strict ? reading::Strict::events : reading::Strict::no;
    drive.progress = progress;
    if (!options.during.empty()) {
        drive.narrow = [during = std::make_shared<analysis::During>(options.during)](
                           std::span<const Event> events) { return during->inside(events); };
    }
    return drive;
}

void print_tables(const ViewOptions& options, std::span<const table::Table> tables,
                  const view::Output& out, const tree::ShortNames& names) {
    const table::Write write = [&out](std::string_view piece) {
        std::fwrite(piece.data(), 1, piece.size(), out.file());
    };
    if (options.format == "csv") {
        table::csv(tables, write);
    } else if (options.format == "jsonl") {
        table::jsonl(tables, write);
    } else {
        std::vector<table::Table> shortened;
        for (const table::Table& table : tables) {
            shortened.push_back(view::shortened(table, names));
        }
        table::text(shortened, width(options, out), write);
    }
}

Status finish_with_tables(const ViewOptions& options, std::span<const table::Table> tables,
                          view::Output& out, const reading::Tally& tally,
                          const trace::TraceReader& reader, const std::string& more) {
    {
        const view::Pager pager(pages(options, out));
        print_tables(options, tables, out, view::short_names(reader, width(options, out)));
        fmt::print(out.file(), "{}", more);
        out.close();
    }
    for (const table::Table& table :
         options.format == "text" ? std::span<const table::Table>() : tables) {
        for (const std::string& line : table.left_out) {
            print_message("{}\n", line);
        }
    }
    print_message("{}", tally.verdict(reader));
    return tally.status(reader);
}

Status print_table(const ViewOptions& options, reading::Trace& trace, reading::Consumer& consumer,
                   const std::function<table::Table()>& table_of, reading::Losses losses) {
    view::Output out(options.output);
    reading::Tally tally(reading::selects(trace.options()));
    reading::DriveOptions how = drive_options(options, "read");
    how.losses = losses;
    reading::drive(trace, {&tally, &consumer}, how);
    const table::Table table = table_of();
    return finish_with_tables(options, std::span(&table, 1), out, tally, trace.reader());
}

} // namespace mmioscope::cli
