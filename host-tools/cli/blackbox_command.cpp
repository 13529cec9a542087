#include "cli/commands.hpp"
#include "cli/followed_path.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "reading/trace.hpp"
#include "records/verdict.hpp"
#include "rings/black_box.hpp"
#include "system/error.hpp"
#include "system/message.hpp"
#include "system/units.hpp"
#include "view/last_accesses.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace mmioscope::cli::blackbox_command {

namespace {

struct Options {
    ViewOptions view;
    std::string base; ///< empty: unknown
    std::uint64_t count = 64;
    bool current = false;
};

constexpr char footer[] = R"(
FILE is the machine's RAM: a raw dump, the file of QEMU's memory-backend-file (mmioscope run --ram), or /proc/PID/fd/N of
a running QEMU. It may also be the trace file or the stream of the boot after a reset, which begins with the last records
of the boot before. FILE is never written to and may be compressed with zstd; - is standard input.

Examples:
  mmioscope blackbox ram.bin                          before the last reset, else before the dump
  mmioscope blackbox --base 0x80000000 -n 200 ram.bin
  mmioscope blackbox boot.2.mmio                      how the boot before this trace's boot ended
  mmioscope blackbox --format csv ram.bin
  mmioscope blackbox --current ram.bin                the boot that was running at the dump

Exit status: 0 a boot was found and all its records are whole, 1 none was found or some are damaged, 2 bad input.
)";

std::unique_ptr<view::LastAccessesOutput>
output_of(const Options& options, const view::KnownBoot& boot, const view::Output& out) {
    if (options.view.format != "text") {
        return std::make_unique<view::LastRows>(out.file(), boot, options.view.format == "csv");
    }
    const auto style = [&options, &out](const trace::TraceReader& reader) {
        return line_style(options.view, reader, out);
    };
    return std::make_unique<view::LastLines>(out.file(), boot, style);
}

Status print_boot(const view::KnownBoot& boot, const Options& options) {
    reading::check_cpus(options.view.trace.cpus, boot.area.header().cpu_count);
    reading::TraceOptions chosen = selection(options.view);
    chosen.path = options.view.file;
    view::Output out(options.view.output);
    const auto say = [&](const std::string& words) {
        options.view.format == "text" ? fmt::print(out.file(), "{}", words) : write_message(words);
    };
    say(view::boot_line(boot));
    const rings::LastAccesses last = rings::last_accesses(boot.area, options.count);
    view::show(boot, last, chosen, *output_of(options, boot, out));
    say(trace::other_counts({}, boot.area.statistics()));
    if (last.broken > 0) {
        say(fmt::format("{} payloads are here only in part\n", last.broken));
    }
    if (last.damaged > 0) {
        say(fmt::format("{} damaged records are left out\n", last.damaged));
    }
    out.close();
    return last.damaged == 0 ? Status::fine : Status::failed;
}

constexpr int last_in_hint = 5;

Status print_recorded(std::optional<rings::RecordedBoot> recorded, const Options& options) {
    const std::optional<rings::Area> area =
        recorded && !options.current ? rings::sound_area(recorded->area.bytes()) : std::nullopt;
    if (!area) {
        throw failure("{}: the trace has no records of an earlier boot; the last accesses of its "
                      "own: mmioscope print --last {} {}",
                      options.view.file, last_in_hint, options.view.file);
    }
    return print_boot({*area, recorded->tree, "previous boot"}, options);
}

/// What the input is.
struct Contents {
    bool trace_file = false;
    std::optional<rings::RecordedBoot> recorded; ///< in a trace file or a stream
    std::optional<rings::FoundArea> area;        ///< in a RAM image
};

Contents contents_of(std::span<std::byte> bytes, std::optional<std::uint64_t> base,
                     const Passed& passed) {
    if (rings::is_trace_file(bytes)) {
        return {true, rings::previous_boot_in_file(bytes), {}};
    }
    if (std::optional<rings::FoundArea> area = rings::find_area(bytes, base, passed)) {
        return {false, {}, std::move(area)};
    }
    return {false, rings::previous_boot_in_stream(bytes, passed), {}};
}

Status blackbox(Options options) {
    options.view.file = trace_options(options.view).path; // includes -i
    reading::check(selection(options.view));
    std::optional<std::uint64_t> base;
    if (!options.base.empty()) {
        base = parse_number(options.base);
        if (!base || *base % 4096 != 0) {
            throw bad_input("--base {}: must be a multiple of 4096", options.base);
        }
    }
    ReadProgress progress;
    const auto passed = [&](std::size_t bytes) { progress.add(bytes); };
    const rings::RamImage image(options.view.file, passed);
    Contents contents = contents_of(image.bytes(), base, passed);
    progress.clear();
    if (contents.trace_file || contents.recorded) {
        return print_recorded(std::move(contents.recorded), options);
    }
    const std::optional<rings::FoundArea>& found = contents.area;
    if (!found) {
        throw failure("{}: no valid trace area found{}", options.view.file,
                      base ? " that agrees with --base" : "");
    }
    const std::span<const std::byte> tree = rings::tree_of(*found, image.bytes());
    const std::optional<rings::Area> previous =
        rings::previous_boot(found->area, image.bytes().subspan(found->offset));
    if (previous && !options.current) {
        const bool own =
            std::ranges::equal(previous->header().boot_id, found->area.header().boot_id);
        return print_boot({*previous, tree, own ? "snapshot of the current boot" : "previous boot"},
                          options);
    }
    return print_boot({found->area, tree, "current boot"}, options);
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_input_options(command, options->view);
    add_file(command, "-o,--output", options->view.output,
             "Output file (default: standard output)");
    add_event_options(command, options->view);
    add_name_options(command, options->view.trace);
    add_code_option(command, options->view);
    add_look_options(command, options->view);
    add_format_option(command, options->view, "one access per line, with its state");
    add_count(command, "-n,--limit", options->count, "Number of accesses (default 64)", 1);
    command
        .add_option("--base", options->base,
                    "Physical address of the image's first byte, a multiple of 4096")
        ->check(not_empty())
        ->type_name("ADDRESS");
    command.add_flag("--current", options->current,
                     "Show the running boot, even if it kept records of a previous one");
    command.footer(footer);
    options->view.wide = true;
    return [options] { return blackbox(*options); };
}

} // namespace

const Command row{"blackbox", "Print the last accesses before a reset, a hang or a crash", add};

} // namespace mmioscope::cli::blackbox_command
