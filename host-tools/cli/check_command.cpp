#include "cli/commands.hpp"
#include "cli/followed_path.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "file/trace_check.hpp"
#include "system/message.hpp"
#include "system/open_source.hpp"
#include "system/replaced_file.hpp"
#include "view/print_output.hpp"
#include "view/short_tables.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::cli::check_command {

namespace {

constexpr char footer[] = R"(
Reads each file to its end and checks the header, every checksum, the sequence numbers of each CPU and each device, the
order of time, payloads, the index, and the counts at the end. Prints one line per problem, then the verdict: sound,
damaged, cut (the end is missing, what is there may be fine) or lossy (the file is as it was written, but the recording is
incomplete). It also says if the times of a CPU's accesses go back. In a pipe or a compressed file the index is not compared with the
contents.

Examples:
  mmioscope check boot.mmio
  mmioscope check *.mmio                 one verdict per file
  mmioscope check --format csv *.mmio
  zstd -dc boot.mmio.zst | mmioscope check -

Exit status: 0 all files are sound, 1 one is damaged, cut or lossy, 2 one is not a trace or cannot be read.
)";

struct Options {
    ViewOptions view;
    std::vector<std::string> files;
};

trace::CheckResult check(const std::string& path) {
    ReadProgress progress;
    const auto source = watched(open_source(path), progress);
    return trace::check_trace(*source);
}

/// Passes the result of each file to `take`. Returns the worst status.
template <typename Take>
Status check_all(const std::vector<std::string>& files, const Take& take) {
    Status worst = Status::fine;
    for (const std::string& path : files) {
        try {
            const trace::CheckResult result = check(path);
            take(path, result);
            worst = std::max(worst, result.sound() ? Status::fine : Status::failed);
        } catch (const Error& error) {
            const std::string text = error.what();
            const std::string name = for_terminal(path);
            const bool named = text.find(name) != std::string::npos;
            print_message("mmioscope: {}{}\n", named ? "" : name + ": ", text);
            worst = std::max(worst, error.status());
        }
    }
    return worst;
}

Status check(const Options& options) {
    check_distinct(options.view.output.empty() ? "-" : options.view.output, options.files);
    view::Output out(options.view.output);
    table::Table table = view::check_table();
    const auto print = [&] { print_tables(options.view, std::span(&table, 1), out); };
    const bool text = options.view.format == "text";
    const Status worst =
        check_all(options.files, [&](const std::string& path, const trace::CheckResult& result) {
            view::append(table, text ? for_terminal(path) : path, result);
            if (text) { // do not make people wait for the others
                print();
                table.rows.clear();
            }
        });
    if (!text) {
        print();
    }
    out.close();
    return worst;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    command.add_option("-i,--input,file", options->files, "Trace files; - for standard input")
        ->required()
        ->type_name("FILE");
    add_file(command, "-o,--output", options->view.output,
             "Output file (default: standard output)");
    add_format_option(command, options->view, "one row per problem, then one with the verdict");
    command.footer(footer);
    return [options] { return check(*options); };
}

} // namespace

const Command row{"check", "Check trace files for damage and losses", add};

} // namespace mmioscope::cli::check_command
