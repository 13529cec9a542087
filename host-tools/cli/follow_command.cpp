#include "cli/commands.hpp"
#include "cli/followed_path.hpp"
#include "cli/option_types.hpp"
#include "cli/page_output.hpp"
#include "cli/view_options.hpp"
#include "reading/tally.hpp"
#include "system/message.hpp"
#include "system/signals.hpp"
#include "table/table.hpp"
#include "view/printer.hpp"
#include "view/short_tables.hpp"

#include <memory>
#include <optional>

namespace mmioscope::cli::follow_command {

namespace {

struct Options {
    ViewOptions view;
    std::uint64_t limit = reading::DriveOptions().limit; ///< events
};

constexpr char footer[] = R"(
FILE is the file that a running mmioscope run -o or record -o writes, or will write; - is a pipe. Prints events until the
recording ends or Ctrl-C is pressed, then the table and the verdict of the events so far. If another recording begins in
FILE before, it follows. (With --format and -o it does not: the output has one head.)
Input that is being compressed with zstd arrives in zstd's blocks.

Examples:
  mmioscope follow boot.mmio
  mmioscope follow --cpu 1 --all boot.mmio | grep mmc
  mmioscope follow --limit 1 -F 'dev==mmc && w' boot.mmio      waits for the first one
  mmioscope follow --format jsonl boot.mmio | jq -c 'select(.device == "serial0")'

Exit status: as print; 130 after Ctrl-C. With --limit: 0 if nothing up to there was damaged or lost.
)";

/// The output for the events, and the text after them.
class Shown {
public:
    /// `lines`: the output for lines of text; null: it is for programs.
    Shown(view::Output* lines, const ViewOptions& options, const trace::TraceReader& reader)
        : lines_(lines), wide_(options.wide) {
        if (lines_ == nullptr) {
            records_.emplace(options, reader);
            return;
        }
        view::LineStyle style = line_style(options, reader, *lines_);
        style.selected = reading::selects(selection(options));
        printer_.emplace(lines_->file(), print_options(options, *lines_), style);
    }

    reading::Consumer& consumer() {
        return records_ ? static_cast<reading::Consumer&>(*records_) : *printer_;
    }
    /// The terminal may have another size now.
    void look() {
        if (printer_) {
            printer_->fit(width());
        }
    }
    /// Width of tables in characters.
    std::size_t width() const {
        return wide_ || lines_ == nullptr ? table::unlimited
                                          : table::width_of(::fileno(lines_->file()));
    }
    /// `words`: the verdict, as lines.
    void close(const std::string& tables, const std::string& words) {
        if (lines_ == nullptr) {
            print_message("{}", words);
            return;
        }
        fmt::print(lines_->file(), "\n{}{}", tables, words);
        lines_->close();
    }

private:
    view::Output* lines_;
    bool wide_;
    std::optional<RecordOutput> records_;
    std::optional<view::Printer> printer_;
};

/// One recording after another that has FILE's name.
class Follower {
public:
    Follower(const ViewOptions& options, std::uint64_t limit) : options_(options), left_(limit) {}

    /// Follows a recording to its end. True: another one has begun in FILE, to follow now.
    bool follow_one() {
        reading::TraceOptions selection = trace_options(options_);
        std::optional<Shown> shown;
        bool anew = false;
        FollowedPath file(selection.path, [this] { return stop(); });
        selection.wait = [&] {
            anew = anew || file.is_made_anew();
            if (shown) {
                shown->consumer().flush();
                shown->look();
            }
            return !stop() && !anew && !(shown && shown->consumer().enough());
        };
        std::optional<reading::Trace> trace = open(selection, anew);
        if (!trace) {
            status_ = stopped_ ? Status::interrupted : status_;
            return !stopped_;
        }
        const trace::TraceReader& reader = trace->reader();
        if (options_.format == "text" && !out_) {
            out_.emplace(options_.output, view::Output::Appears::growing);
        }
        shown.emplace(out_ ? &*out_ : nullptr, options_, reader);
        reading::Tally tally(reading::selects(selection));
        reading::DriveOptions driving = drive_options(options_, nullptr);
        driving.stop = [this] { return stop(); };
        driving.limit = left_;
        const reading::Driven driven =
            reading::drive(*trace, {&tally, &shown->consumer()}, driving);
        const bool limited = driven.ended == reading::Ended::limit;
        left_ -= driven.events;
        const std::string cut_short =
            fmt::format("the first {} events; the rest was not read (--limit)\n", driven.events);
        shown->close(view::end_tables(tally.summary(), reader, shown->width(), options_.verbose),
                     limited ? cut_short : tally.verdict(reader));
        const Status status = limited ? tally.status_so_far(reader) : tally.status(reader);
        status_ = stopped_ ? Status::interrupted : status == Status::fine ? status_ : status;
        if (!anew || reader.end() || stopped_ || limited) {
            return false;
        }
        print_message("mmioscope: {} was made anew: {}\n", for_terminal(selection.path),
                      goes_on() ? "the new recording follows"
                                : "follow it again to see that recording");
        return goes_on();
    }

    /// Of all recordings so far.
    Status status() const { return status_; }

private:
    bool stop() { return stopped_ = stopped_ || signals_.pending(); }

    // Nothing if the user quit, or another recording began, before the trace had a head.
    std::optional<reading::Trace> open(const reading::TraceOptions& selection, const bool& anew) {
        try {
            return std::make_optional<reading::Trace>(selection);
        } catch (const Error&) {
            if (!stopped_ && !anew) {
                throw;
            }
            return std::nullopt;
        }
    }

    // A table in a file has one head.
    bool goes_on() const {
        return options_.format == "text" || options_.output.empty() || options_.output == "-";
    }

    const ViewOptions& options_;
    std::uint64_t left_; ///< of --limit, in events
    Signals signals_;
    bool stopped_ = false;
    std::optional<view::Output> out_; ///< of lines: all recordings' are in one file
    Status status_ = Status::fine;
};

} // namespace

} // namespace mmioscope::cli::follow_command

namespace mmioscope::cli {

Status follow_trace(const ViewOptions& options, std::uint64_t limit) {
    follow_command::Follower follower(options, limit);
    while (follower.follow_one()) {
    }
    return follower.status();
}

} // namespace mmioscope::cli

namespace mmioscope::cli::follow_command {

namespace {

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_line_options(command, options->view);
    add_format_option(command, options->view, "one event per line, as in mmioscope export");
    add_count(command, "-n,--limit", options->limit, "End after N events", 1);
    command.footer(footer);
    return [options] { return follow_trace(options->view, options->limit); };
}

} // namespace

const Command row{"follow", "Print a trace while it is being recorded", add};

} // namespace mmioscope::cli::follow_command
