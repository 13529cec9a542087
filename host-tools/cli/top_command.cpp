#include "cli/commands.hpp"
#include "cli/followed_path.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "file/trace_reader.hpp"
#include "reading/tally.hpp"
#include "system/escape.hpp"
#include "system/signals.hpp"
#include "view/top_screen.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

namespace mmioscope::cli::top_command {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Options {
    ViewOptions view;
    std::string by = "device";
    bool once = false;
    std::size_t rows = 24;
};

constexpr char footer[] = R"(
FILE may be one that a running mmioscope run -o or record -o writes, or will write, - is a pipe; the screen follows it.
Rates are accesses per second of the guest's time since the last update, and over the whole trace once it has ended. The
last line is the total. Keys: d r f a t c i s choose the table, Up, Down, Page Up and Down, Home and End move in it, o
changes its order (rate, reads, writes, time, name), Enter opens a device into its registers, Backspace goes back, p or
space pauses the screen (not the reading), q quits. A table has the first 512 names; the second line counts the accesses
of others, which are in the total, too.

Examples:
  mmioscope top boot.mmio
  mmioscope record /dev/ttyUSB0 -o boot.mmio & mmioscope top boot.mmio
  mmioscope top --once --by register boot.mmio

Exit status: 0; 1 the trace ended and is not whole, 2 it cannot be read or there is no terminal, 130 after Ctrl-C.
)";

constexpr auto look_interval = 500ms;
constexpr std::size_t widest = 1000;

analysis::Key key_of(const std::string& word) {
    const auto& keys = analysis::all_keys();
    const auto is_it = [&word](analysis::Key key) { return analysis::key_text(key) == word; };
    return *std::find_if(keys.begin(), keys.end(), is_it);
}

/// The screen, and the state that its keys change.
class Screen {
public:
    Screen(view::TopCounts& counted, analysis::Key key) : counted_(counted) { look_.key = key; }

    /// Handles keys, and redraws if it is time. False: the user quit.
    bool tick() {
        bool redraw = false;
        for (int key = screen_.key(); key != -1; key = screen_.key()) {
            redraw = true;
            if (key == 'q') {
                return false;
            }
            paused_ = key == 'p' || key == ' ' ? !paused_ : paused_;
            look_.press(key, rates().rows, page());
        }
        interrupted_ = interrupted_ || signals_.pending();
        if (!paused_ && Clock::now() >= next_) {
            ended_ ? counted_.look_at_all() : counted_.look();
            next_ = ended_ ? Clock::time_point::max() : Clock::now() + look_interval;
            redraw = true;
        }
        if (redraw) {
            draw();
        }
        return !interrupted_;
    }

    bool interrupted() const { return interrupted_; }

    std::size_t columns() const { return screen_.columns(); }

    void ended() {
        ended_ = true;
        next_ = {};
    }

private:
    void draw() {
        counted_.head.state = paused_ ? "paused" : ended_ ? "ended" : "";
        const analysis::ShownRates& all = rates();
        look_.keep_within(all.rows.size(), page());
        screen_.show(view::top_screen(counted_.head, look_, all, screen_.rows(), screen_.columns()),
                     view::top_titles_line, view::top_first_row + look_.cursor - look_.first);
    }

    const analysis::ShownRates& rates() { return counted_.rates(look_); }
    std::size_t page() const { return view::top_page(screen_.rows()); }

    view::TopCounts& counted_;
    Signals signals_; // blocked before ncurses sets handlers
    view::FullScreen screen_;
    view::TopLook look_;
    Clock::time_point next_{};
    bool paused_ = false;
    bool ended_ = false;
    bool interrupted_ = false;
};

// The last part of the path, because the line is short.
std::string name_of(const std::string& path) {
    return for_terminal(path.substr(path.find_last_of('/') + 1));
}

Status print_once(const Options& options) {
    const reading::TraceOptions selection = trace_options(options.view);
    reading::Trace trace(selection);
    view::Output out(options.view.output);
    view::TopCounts counted;
    counted.head.name = name_of(selection.path);
    counted.numbers_tell = !reading::selects(selection) && !trace.reader().part();
    reading::drive(trace, {&counted}, drive_options(options.view, nullptr));
    counted.finish_with(trace.reader());
    counted.look();
    view::TopLook look;
    look.key = key_of(options.by);
    for (const std::string& line :
         view::top_screen(counted.head, look, counted.rates(look), options.rows, widest)) {
        fmt::print(out.file(), "{}\n", line);
    }
    out.close();
    return reading::status_of(trace.reader());
}

Status show(const Options& options) {
    reading::TraceOptions selection = trace_options(options.view);
    view::TopCounts counted;
    counted.head.name = name_of(selection.path);
    std::optional<Screen> screen;
    bool quit = false;
    selection.wait = [&] {
        quit = quit || (screen && !screen->tick());
        return !quit;
    };
    std::vector<std::string> reports; // held back: the screen would hide them
    selection.report = [&reports](const std::string& line) { reports.push_back(line); };
    if (::isatty(STDOUT_FILENO) != 0) {
        Signals signals; // the screen has its own
        const FollowedPath there(selection.path, [&signals] { return signals.pending(); });
        if (signals.pending()) {
            return Status::interrupted;
        }
    }
    if (selection.path != "-") { // report an unreadable one before taking the screen
        open_input(selection.path);
    }
    screen.emplace(counted, key_of(options.by));
    std::optional<reading::Trace> trace;
    try {
        trace.emplace(selection);
    } catch (const Error&) {
        if (!quit) { // otherwise the user quit before the trace had a head
            throw;
        }
        return screen->interrupted() ? Status::interrupted : Status::fine;
    }
    counted.numbers_tell = !reading::selects(selection) && !trace->reader().part();
    counted.head.short_names = view::short_names(trace->reader(), screen->columns());
    reading::DriveOptions driving = drive_options(options.view, nullptr);
    driving.stop = [&] { return !screen->tick(); };
    quit = reading::drive(*trace, {&counted}, driving).ended != reading::Ended::trace || quit;
    if (!quit) {
        counted.finish_with(trace->reader());
        screen->ended();
    }
    while (!quit && screen->tick()) {
        std::this_thread::sleep_for(50ms);
    }
    const bool interrupted = screen->interrupted();
    screen.reset();
    std::ranges::for_each(reports, trace::report_of(selection.path));
    if (interrupted) {
        return Status::interrupted;
    }
    return trace->reader().end() ? reading::status_of(trace->reader()) : Status::fine;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    command.add_option("--by", options->by, "First table (default device)")
        ->check(one_of(analysis::key_words()));
    command.add_flag("--once", options->once, "Read the whole trace and print one screen as text");
    add_count(command, "-n,--rows", options->rows, "Number of lines for --once (default 24)", 1);
    command.footer(footer);
    return [options] { return options->once ? print_once(*options) : show(*options); };
}

} // namespace

const Command row{"top", "Show a trace's busiest devices on a screen", add};

} // namespace mmioscope::cli::top_command
