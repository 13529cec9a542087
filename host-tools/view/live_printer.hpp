// Prints a trace during the recording, in a thread of its own that reads the file back.
#pragma once

#include "file/file_writer.hpp"
#include "file/trace_reader.hpp"
#include "reading/trace.hpp"
#include "view/line.hpp"
#include "view/printer.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace mmioscope::view {

// How to print a trace during the recording.

struct LiveOptions {
    bool all = false;             ///< every record: no collapsed loops, no limit
    bool verbose = false;         ///< include the hypervisor's counters
    PrintOptions print;           ///< except its limit and `collapse`
    reading::TraceOptions events; ///< which events, and their names; its path and wait are unused
    LineStyle look;               ///< except what the trace itself says
};

/// Throws Error (bad_input) if a recording with the output `path`, possibly empty, cannot be
/// printed: only a regular file gives back what was written.
void check_read_back(const std::string& path);

class LivePrinter {
public:
    /// Prints to standard output. Collapses loops, and prints only a few lines if nobody watches,
    /// unless all are wanted.
    explicit LivePrinter(const LiveOptions& options);
    ~LivePrinter();
    LivePrinter(const LivePrinter&) = delete;
    LivePrinter& operator=(const LivePrinter&) = delete;

    /// The next file to print. `continued`: it continues the previous one.
    void follow(std::shared_ptr<trace::FollowedFile> file, bool continued = false);

    /// Waits until everything is printed; the files must be finished. Returns the number of events
    /// not printed because there were too many.
    std::uint64_t finish();
    /// After finish(): printing stopped because of an error, of which a message told.
    bool failed() const { return failed_; }

private:
    void stopped(const char* why);
    struct Part {
        std::shared_ptr<trace::FollowedFile> file;
        bool continued;
    };

    void run();
    std::optional<Part> next();
    bool print(const Part& part);
    bool print(reading::Trace& trace);
    void start(const trace::TraceReader& reader);
    void end_printing();

    LiveOptions options_;
    std::unique_ptr<Printer> printer_;
    std::optional<std::uint64_t> start_; ///< CNTPCT of the boot's first record
    trace::MarkerTexts markers_;         ///< of that boot, without an end so far
    std::uint64_t selected_ = 0;         ///< events of that boot
    std::uint64_t not_printed_ = 0;

    std::mutex mutex_; ///< guards the members below
    std::condition_variable changed_;
    std::deque<Part> parts_;
    bool failed_ = false;
    bool closed_ = false; ///< no more parts follow, or nobody reads any more

    std::thread thread_;
};

} // namespace mmioscope::view
