// Formats the text of an export into a buffer, and writes the buffer when it is full.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace mmioscope::exporting {

class Sink {
public:
    /// `fd` stays the caller's; `name` is what errors call it. What has not been flushed when this
    /// ends is not written.
    Sink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

    /// To be appended to; settle() after each event.
    fmt::memory_buffer& text() { return text_; }
    void put(std::string_view words) { text_.append(words); }

    /// Writes what came together, if that is enough. Throws Error (failed) if it cannot.
    void settle() {
        if (text_.size() >= enough) {
            flush();
        }
    }
    void flush();

private:
    static constexpr std::size_t enough = 1 << 15;

    int fd_;
    std::string name_;
    fmt::memory_buffer text_;
};

} // namespace mmioscope::exporting
