#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/read_progress.hpp"
#include "lib/distinct_output.hpp"
#include "lib/open_source.hpp"
#include "lib/trace_check.hpp"
#include "view/output.hpp"

#include <memory>
#include <string>
#include <vector>

namespace mmioscope::cli {

namespace {

constexpr char footer[] = R"(
Reads each file to its end: the header, every checksum, the numbers that count each CPU's and each device's records,
the order of time, the index against what the file holds, and the counts of its end. A line for each thing that is
wrong, then one that begins with the word for all of it: sound, damaged, cut (no end: what is there may be fine) or
lossy (the file is as it was written, but records were lost). Of what cannot seek (a pipe, a compressed file) the index
is not compared with the contents.

Examples:
  mmioscope check boot.mmio
  mmioscope check *.mmio                 each has its own verdict
  zstd -dc boot.mmio.zst | mmioscope check -

Exit status 0 if all are sound, 1 if one is damaged, cut or lossy, 2 if one is no trace or cannot be read.
)";

const char* word(const trace::CheckResult& result) {
    if (result.sound()) {
        return "sound";
    }
    return result.cut ? "cut" : result.lossy ? "lossy" : "damaged";
}

Status check(const std::string& path, std::FILE* out) {
    ReadProgress progress;
    const auto source = watched(trace::open_source(path), progress);
    const trace::CheckResult result = trace::check_trace(*source);
    progress.clear();
    for (const std::string& problem : result.problems) {
        fmt::print(out, "{}: {}\n", path, problem);
    }
    if (result.more_problems > 0) {
        fmt::print(out, "{}: ... and {} more\n", path, result.more_problems);
    }
    fmt::print(out, "{}: {}: {} records in {} sections, {} lost\n", path, word(result),
               result.records, result.sections, result.lost);
    return result.sound() ? Status::fine : Status::failed;
}

Status check_all(const std::vector<std::string>& paths, const std::string& output) {
    check_distinct(output.empty() ? "-" : output, paths);
    view::Output out(output);
    Status worst = Status::fine;
    for (const std::string& path : paths) {
        try {
            worst = std::max(worst, check(path, out.file()));
        } catch (const Error& error) {
            const std::string text = error.what();
            const bool named = text.find(path) != std::string::npos;
            fmt::print(stderr, "mmioscope: {}{}\n", named ? "" : path + ": ", text);
            worst = std::max(worst, error.status());
        }
    }
    out.close();
    return worst;
}

} // namespace

void add_check(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand("check", "Say whether trace files are whole and sound");
    const auto paths = std::make_shared<std::vector<std::string>>();
    const auto output = std::make_shared<std::string>();
    command.add_option("-i,--input,file", *paths, "Trace files; - for standard input")
        ->required()
        ->type_name("FILE");
    add_file(command, "-o,--output", *output, "Write here, not to standard output");
    command.footer(footer);
    command.callback([paths, output, &action] {
        action = [paths, output] { return check_all(*paths, *output); };
    });
}

} // namespace mmioscope::cli
