// The guest's kernel log, and the offset between its times and the trace's.
#pragma once

#include "analysis/uart_text.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mmioscope::analysis {

/// No line is taken for one of a trace that stands further off than this, ns (31 years): who wrote
/// the trace may have put any time there, and sums of two such have room.
inline constexpr std::uint64_t dmesg_limit = 1'000'000'000'000'000'000;

struct DmesgLine {
    std::int64_t nanoseconds = 0; ///< printk's time
    std::string text;             ///< with "[    1.234567] " in front
};

/// The lines of `dmesg`, or of a log of the console, that begin with printk's time, "<6>" in front
/// allowed; in the order of the file. Others are left out.
std::vector<DmesgLine> read_dmesg(std::istream& in);

/// Finds what printk's time 0 is in the trace's time. A line that is in the log and also goes out
/// by the traced console gives an upper bound: its first character is written when printk has taken
/// its time, or later. The least of all bounds is the estimate. It is too large by what the
/// quickest line took from printk to its first character; before the console is there, lines are
/// late by seconds, which the least bound does not mind.
class DmesgOffset {
public:
    explicit DmesgOffset(const std::vector<DmesgLine>& lines);

    void add(const Event& event);

    /// Nothing if no line of the log was seen.
    std::optional<std::int64_t> estimate() const;
    std::size_t lines_seen() const { return bounds_.size(); }

    /// How far above the estimate half of the bounds are at most, ns.
    std::int64_t half_within() const;

private:
    std::unordered_map<std::string_view, std::int64_t> times_; ///< by text, which is the caller's
    UartText uart_;
    std::vector<std::int64_t> bounds_;
};

} // namespace mmioscope::analysis
