// Writes the guest's console into a trace while it is recorded.
#pragma once

#include "file/console_text.hpp"
#include "file/file_writer.hpp"

#include <chrono>
#include <optional>

namespace mmioscope::trace {

/// Estimates the guest's counter at a moment of the host's time. A record is always read after it
/// was made, so the record that was read soonest gives the best estimate.
class CounterClock {
public:
    using Moment = std::chrono::steady_clock::time_point;

    explicit CounterClock(std::uint32_t frequency) : frequency_(frequency) {}

    /// A record with this time was just read.
    void see(std::uint64_t time, Moment now);

    /// Approximate CNTPCT; nothing before the first record.
    std::optional<std::uint64_t> at(Moment now) const;

private:
    std::int64_t ticks(Moment now) const;

    std::uint32_t frequency_;
    std::optional<std::int64_t> ahead_; ///< of the host's clock, in ticks: the most seen
};

class ConsoleWriter {
public:
    /// `file` belongs to the caller.
    ConsoleWriter(FileWriter& file, std::uint32_t frequency) : file_(file), clock_(frequency) {}

    /// Records up to this time were just read.
    void see(std::uint64_t time) { clock_.see(time, std::chrono::steady_clock::now()); }

    /// The guest just printed these bytes. Drops those beyond max_console.
    void add(std::span<const std::byte> bytes);

private:
    FileWriter& file_;
    CounterClock clock_;
    std::size_t written_ = 0;
};

} // namespace mmioscope::trace
