// Prints a trace while it is being recorded, in a thread of its own that reads the file back.
#pragma once

#include "lib/follow.hpp"
#include "lib/printer.hpp"

#include <cstdint>
#include <thread>

namespace mmioscope::run {

class LivePrinter {
public:
    /// Prints to standard output what is written to the file behind `fd`. Both descriptor and
    /// `progress` stay the caller's.
    LivePrinter(int fd, trace::WriteProgress& progress, const trace::PrintOptions& options);
    ~LivePrinter();
    LivePrinter(const LivePrinter&) = delete;
    LivePrinter& operator=(const LivePrinter&) = delete;

    /// Waits until all is printed: the file must be finished. Returns the number of events
    /// that were not printed because there were too many.
    std::uint64_t finish();

private:
    void print(int fd, trace::WriteProgress& progress, const trace::PrintOptions& options);

    std::uint64_t not_printed_ = 0;
    std::thread thread_;
};

} // namespace mmioscope::run
