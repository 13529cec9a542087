// Formats the text of an export into a buffer, and writes the buffer when it is full.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace mmioscope::exporting {

class Sink {
public:
    /// `fd` belongs to the caller; `name` is its name in errors. The destructor does not write the
    /// rest: call flush().
    Sink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

    /// Append to this, and call settle() after each event.
    fmt::memory_buffer& text() { return text_; }
    void put(std::string_view words) { text_.append(words); }

    /// Writes the buffer if it is full enough. Throws Error (failed).
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
