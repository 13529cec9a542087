// Progress of reading an input, as a line on a terminal, for long inputs whose events are not
// counted.
#pragma once

#include "system/byte_source.hpp"
#include "system/progress_line.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace mmioscope::cli {

class ReadProgress {
public:
    ReadProgress() : line_(true) {}
    ~ReadProgress() { clear(); }
    ReadProgress(const ReadProgress&) = delete;
    ReadProgress& operator=(const ReadProgress&) = delete;

    void add(std::size_t bytes);
    /// Call it before printing anything else.
    void clear() { line_.clear(); }

private:
    ProgressLine line_;
    std::uint64_t bytes_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// `source`, with its position reported to `progress`, which must outlive the result.
std::unique_ptr<ByteSource> watched(std::unique_ptr<ByteSource> source, ReadProgress& progress);

} // namespace mmioscope::cli
