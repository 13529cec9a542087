// What the guest printed on its console, as sections of the file (docs/man/mmioscope-trace.5).
#pragma once

#include "abi/container.hpp"
#include "file/file_writer.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::trace {

inline constexpr abi::SectionType console_section{14};

/// A section has one or more pieces of text, each with this before its bytes.
struct ConsoleHeader {
    std::uint64_t time; ///< approximate CNTPCT of their arrival; 0: unknown
    std::uint64_t size; ///< bytes
};
static_assert(sizeof(ConsoleHeader) == 16);

/// Most bytes in one piece, and in all of a file, since a guest may print without end. Readers
/// take no more.
inline constexpr std::size_t max_console_piece = 64 * 1024;
inline constexpr std::size_t max_console = 16u << 20;
inline constexpr std::size_t max_console_lines = 1u << 20;

struct ConsolePiece {
    std::uint64_t time; ///< as in its header
    std::span<const std::byte> text;
};

/// Takes the first piece from `payload`; nothing if it has no whole one.
std::optional<ConsolePiece> next_piece(std::span<const std::byte>& payload);

/// The console's text, assembled from its sections.
class ConsoleText {
public:
    /// A line may continue in later sections.
    struct Line {
        std::uint64_t time; ///< approximate CNTPCT of its first byte; 0: unknown
        std::string text;   ///< without line end
    };

    /// Takes a section: all its whole pieces.
    void add(std::span<const std::byte> payload);
    std::span<const Line> lines() const { return lines_; }
    bool empty() const { return lines_.empty(); }

private:
    void add(std::uint64_t time, std::span<const std::byte> text);

    std::vector<Line> lines_;
    std::size_t size_ = 0;
    bool open_ = false; ///< the last line has no end yet
};

// Writes the guest's console into a trace while it is recorded.

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
