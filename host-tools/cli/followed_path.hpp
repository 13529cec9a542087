// The file that follow reads while a recorder writes it: it may come later, and be made anew.
#pragma once

#include "cli/view_options.hpp"
#include "system/byte_source.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace mmioscope::cli {

class FollowedPath {
public:
    /// Waits until `path`, whose folder exists, is there, with a message, or `stop` returns true;
    /// "-" is there.
    FollowedPath(std::string path, const std::function<bool()>& stop);

    /// Call it when nothing new came for a moment. True, from the second call on: another file has
    /// that name now, or the file has become shorter, so another recording has begun in it. (A
    /// recorder, too, replaces the file when it has written its end: the first call gives its
    /// reader the time to see that.)
    bool is_made_anew();

private:
    std::string path_;
    struct stat read_ {}; ///< the file when it was last looked at
    bool suspected_ = false;
};

// Prints a trace while it is being recorded, for `follow` and `print -f`.

/// Ends after `limit` events. Throws Error.
Status follow_trace(const ViewOptions& options, std::uint64_t limit);

// Progress of reading an input, as a line on a terminal, for long inputs whose events are not
// counted.

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
