#include "cli/commands.hpp"
#include "cli/followed_path.hpp"
#include "cli/option_types.hpp"
#include "file/part_files.hpp"
#include "file/texts.hpp"
#include "file/trace_reader.hpp"
#include "system/byte_source.hpp"
#include "system/open_source.hpp"
#include "system/replaced_file.hpp"
#include "verify/artefacts.hpp"
#include "verify/compare.hpp"
#include "verify/result_text.hpp"
#include "view/print_output.hpp"

#include <memory>
#include <string>

namespace mmioscope::cli {

// A trace file as an argument of a command.

class TraceInput {
public:
    /// Opens `path`; "-" is standard input. Decompresses zstd. Reports damage on standard error,
    /// and its position to `progress`, which must outlive this. Throws Error (bad_input) that names
    /// `path` if it is not a readable trace.
    TraceInput(const std::string& path, ReadProgress& progress);

    trace::TraceReader& reader() { return *reader_; }

private:
    std::unique_ptr<ByteSource> source_;
    std::unique_ptr<trace::TraceReader> reader_;
};

} // namespace mmioscope::cli

namespace mmioscope::cli::verify_command {

namespace {

struct Options {
    std::string trace;
    std::string log;
    std::string pc_log; ///< empty: none
    std::string output;
    bool counts = false;
};

constexpr char footer[] = R"(
LOG is the file of mmioscope run --access-log: QEMU writes each access to it as the devices see it. Prints one line per
difference, then the verdict.

Examples:
  mmioscope run --kernel vmlinuz --dtb board.dtb --access-log access.log -o boot.mmio
  mmioscope verify boot.mmio access.log
  mmioscope verify --counts boot.mmio access.log         one line, for programs
  mmioscope verify --pc-log pc.log boot.mmio access.log  also compare the PC of each access

Exit status: 0 no differences, 1 differences, 2 an input cannot be read.
)";

// Faults of the trace itself, independent of the log; lines.
std::string trace_faults(const trace::TraceReader& reader, const verify::Events& events) {
    std::string text;
    if (!reader.end()) {
        text += "the trace is cut off\n";
    } else if (!reader.sound()) {
        text += "the trace is damaged\n";
    }
    if (!reader.missing_part().empty()) {
        text += trace::missing_part_text(reader) + "\n";
    }
    if (const auto why = reader.text().find(trace::incomplete_key); why != reader.text().end()) {
        text += fmt::format("the recording is incomplete: {}\n", why->second);
    }
    for (const abi::Loss& loss : events.holes.losses()) {
        text += fmt::format("the trace lacks {} records of cpu {} from sequence {} on\n",
                            loss.count, loss.cpu, loss.first_sequence);
    }
    if (const trace::Lost lost = reader.lost(); lost.records > 0) {
        text += fmt::format("the recording has {}\n", trace::text_of(lost));
    }
    return text;
}

// The log at `path`; errors in it name that.
importing::AccessLog read_log(const std::string& path, ByteSource& source,
                              importing::AccessLog (&read)(ByteSource&)) {
    try {
        return read(source);
    } catch (const Error& error) {
        throw Error(error.status(), path + ": " + error.what());
    }
}

// Whether the PCs match the log.
bool verify_pcs(const std::string& path, const verify::Events& events,
                const trace::TraceReader& reader, std::FILE* out) {
    ReadProgress progress;
    importing::AccessLog log =
        read_log(path, *watched(open_source(path), progress), verify::read_pc_log);
    progress.clear();
    if (log.lines.empty()) {
        throw bad_input("{} holds no accesses: is it the log of pc-log.so?", path);
    }
    const verify::Result result = verify::compare_pcs(log, events.all, reader.regions());
    fmt::print(out, "{}{}\n", verify::difference_details(result, log, events.all, reader.names()),
               verify::verdict(result, "PCs"));
    return result.differences.empty();
}

Status verify(const Options& options) {
    std::vector<std::string> inputs = trace::part_paths(options.trace);
    inputs.insert(inputs.end(), {options.trace, options.log, options.pc_log});
    check_distinct(options.output.empty() ? "-" : options.output, inputs);
    ReadProgress progress;
    TraceInput input(options.trace, progress);
    const auto log_source = watched(open_source(options.log), progress);
    trace::TraceReader& reader = input.reader();
    if (reader.part()) {
        throw bad_input("{}: this is a part of a trace, but QEMU's log is of the whole run",
                        options.trace);
    }
    const verify::Events events = verify::read_events(reader);
    importing::AccessLog log = read_log(options.log, *log_source, importing::read_access_log);
    if (log.lines.empty()) {
        throw bad_input("{} holds no accesses: is it QEMU's log of mmioscope run --access-log?",
                        options.log);
    }
    progress.clear();
    view::Output output(options.output);
    std::FILE* const out = output.file();
    const auto qemu = reader.text().find("qemu");
    verify::mark_newer(log, qemu == reader.text().end() ? "" : qemu->second);
    const verify::Result result =
        verify::compare(log, events.all, reader.regions(), events.unfinished);
    const std::string faults = trace_faults(reader, events);
    const bool same = result.differences.empty() && faults.empty();
    if (options.counts) {
        fmt::print(out, "{}\n", verify::counts(result, log.lines.size(), events.all.size()));
        output.close();
        return same ? Status::fine : Status::failed;
    }
    fmt::print(out, "{}", verify::difference_details(result, log, events.all, reader.names()));
    fmt::print(out, "{}{}", faults, verify::notes(result, log));
    if (events.of_memory > 0) {
        fmt::print(out, "note: {} records are of watched memory, which QEMU does not log\n",
                   events.of_memory);
    }
    const bool pcs = options.pc_log.empty() || verify_pcs(options.pc_log, events, reader, out);
    fmt::print(out, "{}\n", verify::verdict(result));
    output.close();
    return same && pcs ? Status::fine : Status::failed;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    command.add_option("-i,--input,trace", options->trace, "Trace file")
        ->required()
        ->type_name("FILE");
    command.add_option("log", options->log, "QEMU's log (mmioscope run --access-log)")->required();
    add_file(command, "-o,--output", options->output, "Output file (default: standard output)");
    CLI::Option* const pc_log =
        command
            .add_option("--pc-log", options->pc_log,
                        "Also compare PCs, with this log of a QEMU plugin (tests/qemu/pc_log.c)")
            ->type_name("FILE");
    command
        .add_flag("--counts", options->counts,
                  "Print one line for programs: words and numbers in turn")
        ->excludes(pc_log);
    command.footer(footer);
    return [options] { return verify(*options); };
}

} // namespace

const Command row{"verify", "Compare a trace with QEMU's own log of the same run, event by event",
                  add};

} // namespace mmioscope::cli::verify_command

namespace mmioscope::cli {

TraceInput::TraceInput(const std::string& path, ReadProgress& progress)
    : source_(watched(open_source(path), progress)),
      reader_(trace::read_trace(*source_, path, trace::report_of(path))) {
    trace::read_all_parts(*reader_, path);
}

} // namespace mmioscope::cli
