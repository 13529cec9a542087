// Writes the guest's console into a trace while it is recorded.
#pragma once

#include "file/console_text.hpp"
#include "file/file_writer.hpp"

#include <chrono>
#include <optional>

namespace mmioscope::trace {

/// What the guest's counter shows at a moment of the host's time. A record is read some time after
/// it was made, never before: of all that were read the one that was quickest tells most.
class CounterClock {
public:
    using Moment = std::chrono::steady_clock::time_point;

    explicit CounterClock(std::uint32_t frequency) : frequency_(frequency) {}

    /// A record of this time has just been read.
    void see(std::uint64_t time, Moment now);

    /// CNTPCT, about; nothing before the first record.
    std::optional<std::uint64_t> at(Moment now) const;

private:
    std::int64_t ticks(Moment now) const;

    std::uint32_t frequency_;
    std::optional<std::int64_t> ahead_; ///< of the host's clock, in ticks: the most seen
};

class ConsoleWriter {
public:
    /// `file` stays the caller's.
    ConsoleWriter(FileWriter& file, std::uint32_t frequency) : file_(file), clock_(frequency) {}

    /// Records of up to this time have just been read.
    void see(std::uint64_t time) { clock_.see(time, std::chrono::steady_clock::now()); }

    /// The guest has just printed these. Those beyond max_console are left out.
    void add(std::span<const std::byte> bytes);

private:
    FileWriter& file_;
    CounterClock clock_;
    std::size_t written_ = 0;
};

} // namespace mmioscope::trace
