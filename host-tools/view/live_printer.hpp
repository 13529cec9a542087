// Prints a trace while it is being recorded, in a thread of its own that reads the file back.
#pragma once

#include "lib/follow.hpp"
#include "lib/trace_reader.hpp"
#include "view/printer.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace mmioscope::view {

/// How a trace is printed while it is recorded: loops collapsed, and no more than a few lines
/// where nobody watches; with `all` each record.
PrintOptions live_options(bool all);

class LivePrinter {
public:
    /// Prints to standard output.
    explicit LivePrinter(const PrintOptions& options);
    ~LivePrinter();
    LivePrinter(const LivePrinter&) = delete;
    LivePrinter& operator=(const LivePrinter&) = delete;

    /// The file to be printed next. `continued`: it goes on where the one before it ended.
    void follow(std::shared_ptr<trace::FollowedFile> file, bool continued = false);

    /// Waits until all is printed: the files must be finished. Returns the number of events that
    /// were not printed because there were too many.
    std::uint64_t finish();

private:
    struct Part {
        std::shared_ptr<trace::FollowedFile> file;
        bool continued;
    };

    void run();
    std::optional<Part> next();
    bool print(const Part& part);
    bool print(trace::TraceReader& reader);
    void start(const trace::TraceReader& reader, std::uint64_t first_time);
    void end_printing();

    PrintOptions options_;
    std::unique_ptr<Printer> printer_;
    std::uint64_t start_ = 0; ///< CNTPCT of the first record
    std::uint64_t not_printed_ = 0;

    std::mutex mutex_; ///< of what stands below
    std::condition_variable changed_;
    std::deque<Part> parts_;
    bool closed_ = false; ///< no more parts follow, or nobody reads any more

    std::thread thread_;
};

} // namespace mmioscope::view
