#include "analysis/replay.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "filter/filter.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

#include <algorithm>
#include <memory>

namespace mmioscope::cli::gen_command {

namespace {

struct Options {
    ViewOptions view;
    std::string device;
    std::string format = "c";
    std::string delay = "100us";
    std::string idle = "1";
    std::size_t limit = 2000;
};

constexpr char footer[] = R"(
Prints what a driver did to the device DEV, as a program that does it again: writes, reads, checks that read back what
was written, polls with the bits that were awaited, and delays. DEV is a name as in a filter (dev==DEV); --from, --to and
-F choose among its accesses. docs/gen.md says what becomes which step.

Examples:
  mmioscope gen rtc boot.mmio                            the driver's first steps, as a C table
  mmioscope gen mmc@50000 --as sh boot.mmio -o mmc.sh    as a script for the board
  mmioscope gen mmc --from 2.1 --to 2.4 --delay 10us boot.mmio

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read, or DEV is not one device.
)";

reading::TraceOptions selected(const Options& options) {
    const std::string device = filter::of_device(options.device);
    reading::TraceOptions selection = trace_options(options.view, options.device);
    selection.filter =
        selection.filter.empty() ? device : fmt::format("{} && ({})", device, selection.filter);
    return selection;
}

void report(const analysis::Replay& replay) {
    if (replay.left_out() != 0) {
        print_message("mmioscope: {} later accesses are left out: --limit sets their number, "
                      "--to and -F choose the accesses\n",
                      replay.left_out());
    }
    if (replay.undoable() != 0) {
        print_message("mmioscope: warning: {} accesses cannot be done again and are left out, the "
                      "first is event {}: writes of unknown values, or more than 8 bytes\n",
                      replay.undoable(), replay.first_undoable());
    }
}

/// The region whose whole name `device` is: others may have it as a part of theirs.
std::optional<std::uint16_t> region_named(const trace::TraceReader& reader,
                                          const std::string& device) {
    for (std::size_t i = 0; i < reader.regions().size(); ++i) {
        const auto region = static_cast<std::uint16_t>(i);
        if (reader.names()[region] == device) {
            return region;
        }
    }
    return std::nullopt;
}

Status gen(const Options& options) {
    const reading::TraceOptions selection = selected(options);
    reading::Trace trace(selection);
    if (!filter::Filter(filter::of_device(options.device)).bind(trace.reader()).empty()) {
        return Status::bad_input; // the trace has said why
    }
    view::Output out(options.view.output);
    reading::Tally tally(reading::selects(selection));
    analysis::Replay replay(
        {duration_of("--delay", options.delay), duration_of("--idle", options.idle), options.limit},
        trace.reader().info() ? trace.reader().info()->counter_frequency : 0,
        region_named(trace.reader(), options.device));
    reading::drive(trace, {&tally, &replay}, drive_options(options.view, "read"));
    if (replay.device().empty()) {
        throw bad_input("{}: no access to the device '{}'", selection.path, options.device);
    }
    if (!replay.other().empty()) {
        throw bad_input("'{}' is several devices: give one of '{}', '{}', ...", options.device,
                        replay.device(), replay.other());
    }
    const auto formats = analysis::replay_formats();
    const auto format = std::ranges::find(formats, options.format, &analysis::ReplayFormat::name);
    const TextBuffer text =
        format->text({replay.device(), replay.base(), selection.path}, replay.steps());
    std::fwrite(text.view().data(), 1, text.size(), out.file());
    out.close();
    report(replay);
    print_message("{}", tally.verdict(trace.reader()));
    return tally.status(trace.reader());
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    command.add_option("device", options->device, "The device")->required()->type_name("DEV");
    add_view_options(command, options->view);
    command.add_option("--as", options->format, "Output format (default c)")
        ->check(CLI::IsMember(names_of(analysis::replay_formats())))
        ->type_name("FORMAT");
    command
        .add_option("--delay", options->delay,
                    "Shortest pause that becomes a delay (default 100us)")
        ->type_name("TIME");
    command
        .add_option("--idle", options->idle,
                    "A longer pause is not written as a delay: the driver was idle (default 1 s)")
        ->type_name("TIME");
    add_count(command, "-n,--limit", options->limit, "Most accesses (default 2000)", 1);
    command.footer(footer + lines_of(analysis::replay_formats()));
    return [options] { return gen(*options); };
}

} // namespace

const Command row{"gen", "Make a program that does again what a driver did to a device", add};

} // namespace mmioscope::cli::gen_command
