#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/record_output.hpp"
#include "cli/view_options.hpp"
#include "lib/signals.hpp"
#include "view/printer.hpp"
#include "view/tally.hpp"

#include <functional>
#include <memory>

namespace mmioscope::cli {

namespace {

struct Options {
    ViewOptions view;
    std::uint64_t limit = 0; ///< events; 0: none
};

constexpr char footer[] = R"(
FILE is what mmioscope run -o or record -o is writing, in this or another process; - is a pipe. Prints until the recording
ends, or until Ctrl-C, and then the table and the verdict of what came up to there. What is compressed with zstd meanwhile
comes in zstd's blocks.

Examples:
  mmioscope follow boot.mmio
  mmioscope follow --cpu 1 --all boot.mmio | grep mmc
  mmioscope follow --limit 1 -F 'dev==mmc && w' boot.mmio      waits for the first one
  mmioscope follow --format jsonl boot.mmio | jq -c 'select(.device == "serial0")'

Exit status as of print; 130 after Ctrl-C. With --limit 0 if what was printed is neither damaged nor tells of losses.
)";

// Ctrl-C is looked for while there is nothing to read, and every so many events.
constexpr std::uint64_t events_between_looks = 4096;

// Nothing if the user had enough before the trace had a head.
std::optional<reading::Trace> open(const reading::TraceOptions& selection, const bool& stopped) {
    try {
        return std::make_optional<reading::Trace>(selection);
    } catch (const Error&) {
        if (!stopped) {
            throw;
        }
        return std::nullopt;
    }
}

/// What is made of the events.
class Shown {
public:
    virtual ~Shown() = default;
    virtual void add(const Event& event) = 0;
    /// Nothing comes for a while.
    virtual void flush() = 0;
    /// True once nobody reads any more.
    virtual bool broken() const { return false; }
    /// `words`: what is said of it all, lines.
    virtual void finish(const std::string& tables, const std::string& words) = 0;
};

class Lines : public Shown {
public:
    Lines(const ViewOptions& options, const trace::TraceReader& reader)
        : out_(options.output),
          printer_(out_.file(), view::PrintOptions{.collapse = !options.all && out_.terminal()},
                   line_style(options, reader, out_)) {}

    void add(const Event& event) override { printer_.add(event); }
    void flush() override { printer_.flush(); }
    bool broken() const override { return printer_.broken(); }
    void finish(const std::string& tables, const std::string& words) override {
        printer_.finish();
        fmt::print(out_.file(), "\n{}{}", tables, words);
        out_.close();
    }

private:
    view::Output out_;
    view::Printer printer_;
};

class Records : public Shown {
public:
    Records(const ViewOptions& options, const trace::TraceReader& reader)
        : records_(options, reader) {}

    void add(const Event& event) override { records_.add(event); }
    void flush() override { records_.flush(); }
    void finish(const std::string&, const std::string& words) override {
        records_.finish();
        fmt::print(stderr, "{}", words);
    }

private:
    RecordOutput records_;
};

std::unique_ptr<Shown> make_shown(const ViewOptions& options, const trace::TraceReader& reader) {
    if (options.format == "text") {
        return std::make_unique<Lines>(options, reader);
    }
    return std::make_unique<Records>(options, reader);
}

Status follow(const Options& options) {
    reading::TraceOptions selection = trace_options(options.view);
    Signals signals;
    std::unique_ptr<Shown> shown;
    bool stopped = false;
    selection.wait = [&] {
        if (shown) {
            shown->flush();
        }
        stopped = stopped || signals.pending();
        return !stopped && !(shown && shown->broken());
    };
    std::optional<reading::Trace> opened = open(selection, stopped);
    if (!opened) {
        return Status::interrupted;
    }
    reading::Trace& trace = *opened;
    shown = make_shown(options.view, trace.reader());
    view::Tally tally(reading::selects(selection));
    std::uint64_t events = 0;
    bool enough = false;
    while (const Event* event = stopped || enough ? nullptr : trace.next()) {
        check_strict(options.view, trace, *event);
        tally.add(*event);
        shown->add(*event);
        if (shown->broken()) {
            break;
        }
        stopped = ++events % events_between_looks == 0 && signals.pending();
        enough = events == options.limit;
    }
    const trace::TraceReader& reader = trace.reader();
    const std::string cut_short =
        fmt::format("the first {} events: what follows was not read (--limit)\n", events);
    shown->finish(tally.tables(reader), enough ? cut_short : tally.verdict(reader));
    return stopped  ? Status::interrupted
           : enough ? tally.status_so_far(reader)
                    : view::status_of(reader);
}

} // namespace

void add_follow(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand("follow", "Print a trace while it is being recorded");
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_line_options(command, options->view);
    add_format_option(command, options->view, "an event a line, as of mmioscope export");
    command.add_option("--limit", options->limit, "End after so many events")
        ->check(count_from(1))
        ->type_name("N");
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return follow(*options); }; });
}

} // namespace mmioscope::cli
