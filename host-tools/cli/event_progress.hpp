// How many events a command has read: a line on a terminal, for long traces.
#pragma once

#include "lib/progress_line.hpp"

#include <chrono>
#include <cstdint>

namespace mmioscope::cli {

class EventProgress {
public:
    /// "N events exported", if `did` is that; `wanted` unless the data goes to the same terminal.
    EventProgress(bool wanted, const char* did) : line_(wanted), did_(did) {}
    ~EventProgress() { clear(); }
    EventProgress(const EventProgress&) = delete;
    EventProgress& operator=(const EventProgress&) = delete;

    /// One more.
    void count() {
        if (++events_ % 4096 == 0) { // the clock costs more than an event
            show(events_);
        }
    }
    void show(std::uint64_t events);
    void clear() { line_.clear(); }

private:
    ProgressLine line_;
    const char* did_;
    std::uint64_t events_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace mmioscope::cli
