#include "cli/commands.hpp"
#include "cli/followed_path.hpp"
#include "cli/option_types.hpp"
#include "export/output.hpp"
#include "import/importing.hpp"
#include "system/byte_source.hpp"
#include "system/message.hpp"
#include "system/open_source.hpp"
#include "system/replaced_file.hpp"
#include "tree/device_tree.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::cli::import_command {

namespace {

struct Options {
    std::string format;
    std::string input = "-";
    std::string output;
    bool strict = false;
};

constexpr char footer[] = R"(
The trace's text not-known lists what such a log does not contain. Lines that cannot be used are counted and reported,
and so are accesses that a trace cannot hold (physical addresses of more than 40 bits): the trace is incomplete then, and
its text incomplete says why. Events that the log says were lost are lost in the trace, too.

Examples:
  mmioscope import --as mmiotrace -i mydump.txt -o dump.mmio
  mmioscope import --as qemu -i access.log -o log.mmio && mmioscope print log.mmio

Exit status: 0 all lines could be used, 1 some could not, or the log says that an unknown number of events was lost, 2
none could, and no file was written.
)";

/// A log that can be read twice: standard input, a pipe or compressed data is first copied to a
/// file.
class Log {
public:
    Log(const std::string& path, ReadProgress& progress)
        : file_(open_or_spool(path, std::numeric_limits<std::uint64_t>::max(),
                              [&](std::size_t bytes) { progress.add(bytes); })) {}

    int fd() const { return file_.get(); }
    /// Throws Error (bad_input) if it is known to be something else than a log of `format`.
    void check(const std::string& path, std::string_view format) const {
        std::vector<std::byte> first(4096);
        first.resize(static_cast<std::size_t>(
            std::max<ssize_t>(0, ::pread(fd(), first.data(), first.size(), 0))));
        const std::string known = tree::known_file(first);
        if (!known.empty() && known.find(format) == known.npos) {
            throw bad_input("{}: this is {}", path, known);
        }
    }
    void rewind() { ::lseek(file_.get(), 0, SEEK_SET); }

private:
    FileDescriptor file_;
};

/// The log from its start, for each reader.
class Again : public ByteSource {
public:
    Again(Log& log, ReadProgress& progress) : log_(log), progress_(progress), source_(log.fd()) {}
    std::size_t read(void* to, std::size_t size) override {
        if (!begun_) {
            log_.rewind();
            begun_ = true;
        }
        const std::size_t bytes = source_.read(to, size);
        progress_.add(bytes);
        return bytes;
    }

private:
    Log& log_;
    ReadProgress& progress_;
    FileSource source_;
    bool begun_ = false;
};

importing::Report import_log(const Options& options, int fd) {
    ReadProgress progress;
    Log log(options.input, progress);
    log.check(options.input, options.format);
    Again first(log, progress);
    Again second(log, progress);
    try {
        return importing::format_of(options.format).import(first, second, fd);
    } catch (const Error& error) {
        const bool read = error.status() == Status::bad_input;
        throw Error(error.status(), (read ? options.input : options.output) + ": " + error.what());
    }
}

Status import_file(const Options& options) {
    if (options.input == "-" && ::isatty(STDIN_FILENO) != 0) {
        throw bad_input("no log given: name a file, or use standard input");
    }
    check_distinct(options.output, {options.input});
    exporting::Output output(options.output);
    const importing::Report report = import_log(options, output.fd());
    const bool whole = report.incomplete().empty();
    const bool keep = !options.strict || whole;
    if (keep) {
        output.finish();
    }
    for (const std::string& line : report.malformed.first) {
        print_message("mmioscope: {}: {}\n", for_terminal(options.input), line);
    }
    if (report.malformed.count > 0) {
        print_message("mmioscope: {}: {} lines cannot be used\n", for_terminal(options.input),
                      report.malformed.count);
    }
    for (const auto* lines : {&report.missing, &report.notes}) {
        for (const std::string& line : *lines) {
            print_message("mmioscope: {}: {}\n", for_terminal(options.input), line);
        }
    }
    if (!keep) {
        throw failure("{}: {} (--strict)", options.input,
                      output.held_back() ? "nothing was written" : "the output lacks these lines");
    }
    print_message("mmioscope: {} accesses, {} lost\n", report.accesses, report.lost);
    return whole ? Status::fine : Status::failed;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    command.add_option("--as", options->format, "Format of the log")
        ->required()
        ->type_name("FORMAT")
        ->check(one_of(names_of(importing::formats())));
    command.add_option("-i,--input,input", options->input, "Log (default -: standard input)")
        ->check(not_empty())
        ->type_name("LOG");
    command.add_option("-o,--output", options->output, "Trace file; - for standard output")
        ->required()
        ->check(not_empty())
        ->type_name("FILE");
    command.add_flag(
        "--strict", options->strict,
        "Write no trace if a line cannot be used, or the number of lost events is unknown");
    command.footer(lines_of(importing::formats()) + footer);
    return [options] { return import_file(*options); };
}

} // namespace

const Command row{"import", "Convert another tool's log to a trace", add};

} // namespace mmioscope::cli::import_command
