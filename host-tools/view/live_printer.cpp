#include "view/live_printer.hpp"

#include "reading/drive.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace mmioscope::view {

namespace {

constexpr std::uint64_t lines_nobody_watches = 200;

PrintOptions print_options(const LiveOptions& options) {
    PrintOptions print = options.print;
    print.collapse = !options.all;
    if (!options.all && ::isatty(STDOUT_FILENO) == 0) {
        print.limit = lines_nobody_watches;
    }
    return print;
}

} // namespace

void check_read_back(const std::string& path) {
    if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path)) {
        throw bad_input("-o {}: must be a regular file, because what is printed is read back from "
                        "it",
                        path);
    }
}

LivePrinter::LivePrinter(const LiveOptions& options)
    : options_(options), thread_([this] {
          try {
              run();
          } catch (const std::exception& error) {
              stopped(error.what());
          }
      }) {}

LivePrinter::~LivePrinter() {
    if (thread_.joinable()) {
        finish();
    }
}

void LivePrinter::follow(std::shared_ptr<trace::FollowedFile> file, bool continued) {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
        parts_.push_back({std::move(file), continued});
        changed_.notify_all();
    }
}

std::uint64_t LivePrinter::finish() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }
    thread_.join();
    return not_printed_;
}

// The recording goes on.
void LivePrinter::stopped(const char* why) {
    print_message("mmioscope: printing stopped: {}\n", why);
    const std::lock_guard lock(mutex_);
    failed_ = true;
    closed_ = true;
    parts_.clear();
}

std::optional<LivePrinter::Part> LivePrinter::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !parts_.empty(); });
    if (parts_.empty()) {
        return std::nullopt;
    }
    Part part = std::move(parts_.front());
    parts_.pop_front();
    return part;
}

void LivePrinter::run() {
    for (std::optional<Part> part = next(); part; part = next()) {
        if (!print(*part)) { // nobody reads any more; the recording continues
            const std::lock_guard lock(mutex_);
            closed_ = true;
            parts_.clear();
            return;
        }
    }
    end_printing();
}

// False once standard output accepts no more.
bool LivePrinter::print(const Part& part) {
    if (!part.continued) {
        end_printing();
    }
    trace::FollowSource source(part.file->file.get(), part.file->written, [this] {
        if (printer_) {
            printer_->flush(); // nothing new for a moment: show what was held back
        }
    });
    reading::TraceOptions events = options_.events;
    events.report = [](const std::string&) {}; // reported when the file is read
    events.start = start_;
    events.markers = &markers_;
    reading::Trace trace(events, source);
    return print(trace);
}

bool LivePrinter::print(reading::Trace& trace) {
    start_ = start_ ? start_ : trace.reader().start();
    if (!printer_) {
        start(trace.reader());
    }
    /// The printer continues with the next file, so finish() is not passed on.
    class Part final : public reading::Consumer {
    public:
        explicit Part(Printer& printer) : printer_(printer) {}
        void add(const Event& event) override { printer_.add(event); }
        void add_all(std::span<const Event> events) override { printer_.add_all(events); }
        void forget() override { printer_.forget(); }
        bool enough() const override { return printer_.enough(); }

    private:
        Printer& printer_;
    } part(*printer_);
    const reading::Driven driven = reading::drive(trace, {&part});
    selected_ += driven.events;
    printer_->drop_unended(); // some of them may have ended
    for (const trace::Marker& marker : markers_.open()) {
        Event event = trace.naming().event(marker.record);
        event.ids.text = trace.naming().intern(marker.text);
        printer_->add_unended(event);
    }
    printer_->forget(); // while the names are still valid
    return driven.ended != reading::Ended::enough && !printer_->enough();
}

void LivePrinter::start(const trace::TraceReader& reader) {
    const LineStyle of_trace = style_of(reader);
    LineStyle style = options_.look;
    style.frequency = of_trace.frequency;
    style.device_width = of_trace.device_width;
    style.named = style.named || of_trace.named;
    style.pc = style.pc && of_trace.pc;
    style.task = of_trace.task;
    style.pc_high = of_trace.pc_high;
    style.duration = style.duration && reader.knows("duration");
    if (style.width != SIZE_MAX) {
        fit(style, reader, style.width);
    }
    printer_ = std::make_unique<Printer>(stdout, print_options(options_), style);
}

void LivePrinter::end_printing() {
    if (printer_) {
        markers_ = {};
        printer_->finish();
        not_printed_ += printer_->not_printed();
        if (std::exchange(selected_, 0) == 0 && reading::selects(options_.events)) {
            print_message(
                "mmioscope: nothing was recorded that -F, --cpu, --from and --to select\n");
        }
        printer_.reset();
    }
    start_.reset();
}

} // namespace mmioscope::view
