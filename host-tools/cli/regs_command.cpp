#include "analysis/register_score.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "reading/one_device.hpp"
#include "system/error.hpp"
#include "system/escape.hpp"
#include "system/message.hpp"
#include "system/open_source.hpp"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>

namespace mmioscope::cli::regs_command {

namespace {

struct Options {
    ViewOptions view;
    std::string device;
    bool describe = false; ///< a description instead of the table
    std::string score;     ///< another trace; empty: none
    bool interrupts_given = false;
};

constexpr char footer[] = R"(
Prints a line for each register of DEV that was accessed, by offset: what it is, and by what evidence.

  values, written  different values that were read and written, up to 16
  class            storage, w1c (a one clears the bit), set (a one sets it, here or in another register), clear (a one
                   clears it in another register), read-clears (a read clears bits), self-clear, index and data (which
                   the index chooses), command (another register changes a time after it is written), status, counter,
                   fifo; constant so far, counter so far, storage so far, self-clear so far, never read back and
                   unclear: the accesses do not show more

DEV is a name as in a filter (dev==DEV). docs/regs.md defines the classes. Memory: 3 KiB for each register, at most
4096. After a loss or a reset no earlier value counts. -F, --cpu, --from and --to choose the accesses that are looked
at: a write that they leave out makes the evidence wrong.

With --score, the trace teaches a small model what reads give, and the table says what it predicts of the reads of
another trace. FIFOs, and counters that never stand still, are left out. Which interrupt comes is chance: with
--interrupts-given the model is told what a GIC's acknowledges gave, and only its other reads count.

  reads, right %   its reads, and which share of them it predicts exactly
  free %           likewise, if the model is told only the writes, and takes its own predictions for earlier reads
  situations       different ones: a register, and the device's last five accesses. Each counts once, at its first time
  right %, free %  which share of them it predicts at that time
  read %, written %, frequent %
                   likewise, by what was read last, what was written last, and what was read most often
  rule             what decided most often (docs/regs.md)
  deviates         event of the first read that is not predicted

Examples:
  mmioscope regs mmc boot.mmio
  mmioscope regs mmc good.mmio --score other.mmio
  mmioscope regs serial0 --format csv boot.mmio
  mmioscope regs serial0 --describe boot.mmio -o serial.regs      to be corrected, and used with --registers

Exit status: 0 the traces are whole and nothing was lost, whatever the score; 1 otherwise; 2 one cannot be read, or has
no access to DEV.
)";

void drive_all(reading::Trace& trace, const Options& options,
               std::initializer_list<reading::Consumer*> consumers) {
    reading::DriveOptions how = drive_options(options.view, "read");
    how.losses = reading::Losses::all;
    reading::drive(trace, consumers, how);
}

/// Learns from the trace: first its classes, then what reads give.
Status learn(const Options& options, analysis::RegisterClasses& classes,
             analysis::RegisterModel& model) {
    const reading::TraceOptions selection = trace_options(options.view);
    if (reads_once(selection.path)) {
        throw bad_input("--score reads the first trace twice: name a file instead of standard "
                        "input");
    }
    Status status = Status::fine;
    const auto read = [&](reading::Consumer& learner) {
        reading::Trace trace(selection);
        reading::OneDevice device(trace, options.device, learner);
        drive_all(trace, options, {&device});
        status = reading::status_of(trace.reader());
    };
    read(classes);
    if (classes.empty()) {
        throw bad_input("{}: no access to a device '{}'", selection.path, options.device);
    }
    read(model);
    if (status != Status::fine) {
        print_message("mmioscope: warning: {} is damaged or lacks records: the model has "
                      "learnt less\n",
                      for_terminal(selection.path));
    }
    return status;
}

Status score(const Options& options) {
    analysis::RegisterClasses classes;
    analysis::RegisterModel model(classes);
    const Status learnt = learn(options, classes, model);
    ViewOptions other = options.view;
    other.file.clear();
    other.input = options.score;
    const reading::TraceOptions selection = trace_options(other);
    reading::Trace trace(selection);
    view::Output out(options.view.output);
    reading::Tally tally(reading::selects(selection));
    analysis::RegisterScore score(model, options.interrupts_given);
    reading::OneDevice device(trace, options.device, score);
    drive_all(trace, options, {&tally, &device});
    if (score.empty()) {
        throw bad_input("{}: no read of a device '{}'", selection.path, options.device);
    }
    const table::Table table = score.table();
    return std::max(learnt,
                    finish_with_tables(other, std::span(&table, 1), out, tally, trace.reader()));
}

Status regs(const Options& options) {
    if (options.interrupts_given && options.score.empty()) {
        throw bad_input("--interrupts-given is of --score OTHER: name the other trace");
    }
    if (!options.score.empty()) {
        if (options.describe) {
            throw bad_input("--describe is of one trace: leave --score out");
        }
        return score(options);
    }
    const reading::TraceOptions selection = trace_options(options.view, options.device);
    reading::Trace trace(selection);
    view::Output out(options.view.output);
    reading::Tally tally(reading::selects(selection));
    analysis::RegisterClasses classes;
    reading::OneDevice device(trace, options.device, classes);
    drive_all(trace, options, {&tally, &device});
    if (classes.empty()) {
        throw bad_input("the trace has no access to a device '{}'", options.device);
    }
    if (options.describe) {
        const std::string text = classes.description(
            registers::list_devices(trace.reader().regions(), trace.reader().tree()));
        return finish_with_tables(options.view, {}, out, tally, trace.reader(), text);
    }
    const table::Table table = classes.table();
    return finish_with_tables(options.view, std::span(&table, 1), out, tally, trace.reader());
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    command.add_option("device", options->device, "Name of the device: mmc@50000, mmc")->required();
    add_view_options(command, options->view);
    add_format_option(command, options->view, "one register per line");
    add_file(command, "--score", options->score,
             "Learn from the trace, and say what that foretells of the reads of this one");
    command.add_flag("--interrupts-given", options->interrupts_given,
                     "With --score: tell the model which interrupts come, and leave out the reads "
                     "that say so");
    command.add_flag(
        "--describe", options->describe,
        "Print a description for --registers (mmioscope-registers(5)) instead of a table");
    add_wide_option(command, options->view);
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return regs(*options); };
}

} // namespace

const Command row{"regs", "Show what a device's registers are, by their accesses", add};

} // namespace mmioscope::cli::regs_command
