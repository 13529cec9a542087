// Prints events as lines, to a person or a pipe.
#pragma once

#include "lib/marker_text.hpp"
#include "lib/open_accesses.hpp"
#include "view/collapse.hpp"
#include "view/line.hpp"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string>

namespace mmioscope::view {

struct PrintOptions {
    bool collapse = false; ///< repeated accesses as one line with a count, each quarter second
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max(); ///< lines
};

class Printer {
public:
    /// Writes to `out`, which stays the caller's.
    Printer(std::FILE* out, const PrintOptions& options, const LineStyle& style);

    void add(const Event& event);

    /// A line of words, at its place in time: `nanoseconds` and `ticks` as LineFormat::time().
    void add(std::int64_t nanoseconds, std::uint64_t ticks, const std::string& words);

    /// Prints what is held back for counting.
    void flush();

    /// The trace is closed, and the next one goes on where it ended.
    void next_part();

    /// The trace is over: prints the rest, and last the accesses that have begun and not ended.
    void finish();

    /// Accesses beyond the limit, which were not printed.
    std::uint64_t not_printed() const { return not_printed_; }

    /// True once `out` takes nothing any more (its reader has gone).
    bool broken() const { return std::ferror(out_) != 0; }

private:
    void keep_begun(const Event& event);
    bool is_shown(abi::RecordType type) const;
    void show(const Event& event);
    void print(const Event& first, std::uint64_t count, std::uint64_t last_value);
    void print(const trace::Marker& marker);
    bool begin_line();
    void end_line();

    std::FILE* out_;
    PrintOptions options_;
    LineFormat format_;
    Collapse collapse_;
    trace::OpenAccesses begun_;
    std::map<unsigned, HeldEvent> begun_events_; ///< of begun_, by CPU
    trace::MarkerTexts markers_;
    struct {
        std::uint64_t nanoseconds = 0;
        std::uint64_t ticks = 0;
    } last_; ///< time of the last event
    std::uint32_t frequency_;
    std::string line_;
    std::uint64_t lines_ = 0;
    std::uint64_t not_printed_ = 0;
};

} // namespace mmioscope::view
