// Prints a trace while it is being recorded, in a thread of its own that reads the file back.
#pragma once

#include "file/follow.hpp"
#include "file/trace_reader.hpp"
#include "view/live_options.hpp"
#include "view/printer.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace mmioscope::view {

class LivePrinter {
public:
    /// Prints to standard output: loops collapsed, and no more than a few lines where nobody
    /// watches, unless all are wanted.
    explicit LivePrinter(const LiveOptions& options);
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
    bool print(reading::Trace& trace);
    void start(const trace::TraceReader& reader);
    void end_printing();

    LiveOptions options_;
    std::unique_ptr<Printer> printer_;
    std::optional<std::uint64_t> start_; ///< CNTPCT of the boot's first record
    trace::MarkerTexts markers_;         ///< of that boot, whose end has not come
    std::uint64_t not_printed_ = 0;

    std::mutex mutex_; ///< of what stands below
    std::condition_variable changed_;
    std::deque<Part> parts_;
    bool closed_ = false; ///< no more parts follow, or nobody reads any more

    std::thread thread_;
};

} // namespace mmioscope::view
