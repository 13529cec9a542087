// Prints records as lines, to a person or a pipe.
#pragma once

#include "lib/collapse.hpp"
#include "lib/line_format.hpp"
#include "lib/marker_text.hpp"
#include "lib/open_accesses.hpp"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>

namespace mmioscope::trace {

struct PrintOptions {
    bool collapse = false; ///< repeated accesses as one line with a count, each quarter second
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max(); ///< lines
    int cpu = -1; ///< only this CPU's records; -1: all
};

class Printer {
public:
    /// Writes to `out`, which stays the caller's.
    Printer(std::FILE* out, const PrintOptions& options, const LineContext& context);

    void add(std::span<const abi::Record> records);

    /// Prints what is held back for counting.
    void flush();

    /// The trace is over: prints the rest, and last the accesses that have begun and not ended.
    void finish();

    /// Access records beyond the limit, which were not printed.
    std::uint64_t not_printed() const { return not_printed_; }

    /// True once `out` takes nothing any more (its reader has gone).
    bool broken() const { return std::ferror(out_) != 0; }

private:
    void show(const abi::Record& record);
    void print(const Run& run);
    void print(const Marker& marker);
    bool begin_line();
    void end_line();

    std::FILE* out_;
    PrintOptions options_;
    LineContext context_;
    Collapse collapse_;
    OpenAccesses begun_;
    MarkerTexts markers_;
    std::string line_;
    std::uint64_t lines_ = 0;
    std::uint64_t not_printed_ = 0;
};

} // namespace mmioscope::trace
