// The guest's kernel log, and the offset between its times and the trace's.
#pragma once

#include "mmioscope/event.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mmioscope::analysis {

// Lines of text sent through a UART, put together from the writes to its data register.

class UartText {
public:
    struct Line {
        std::uint64_t nanoseconds; ///< time of its first character
        std::string text;          ///< without line end
    };

    /// The line that `event` completes. Expects the data register at offset 0, as on PL011 and
    /// 8250. Writes to offset 0 of other devices rarely form a line that anybody looks for.
    std::optional<Line> add(const Event& event);

private:
    static constexpr std::size_t longest = 1024; ///< characters; the rest is cut off

    std::map<std::uint16_t, Line> open_; ///< by Record::device
};

/// Lines further than this from the trace, in ns (31 years), do not match: a trace may contain any
/// time, and the sum of two such times must not overflow.
inline constexpr std::uint64_t dmesg_limit = 1'000'000'000'000'000'000;

struct DmesgLine {
    std::int64_t nanoseconds = 0; ///< printk's time
    std::string text;             ///< with "[    1.234567] " in front
};

/// The lines of `dmesg` or of a console log that begin with printk's time, optionally after "<6>",
/// in the order of the file. Skips other lines.
std::vector<DmesgLine> read_dmesg(std::istream& in);

/// Finds printk's time 0 in the trace's time. A line that is in the log and also goes out over the
/// traced console gives an upper bound: printk takes its time before the first character is
/// written. The least bound is the estimate. It is too large by the time that the quickest line
/// took from printk to its first character. Lines from before the console existed are seconds late,
/// but do not affect the least bound.
class DmesgOffset {
public:
    explicit DmesgOffset(const std::vector<DmesgLine>& lines);

    void add(const Event& event);

    /// Nothing if no line of the log was seen.
    std::optional<std::int64_t> estimate() const;
    std::size_t lines_seen() const { return bounds_.size(); }

    /// Half of the bounds are at most this far above the estimate, in ns.
    std::int64_t half_within() const;

private:
    std::unordered_map<std::string_view, std::int64_t> times_; ///< by text, which the caller owns
    UartText uart_;
    std::vector<std::int64_t> bounds_;
};

} // namespace mmioscope::analysis
