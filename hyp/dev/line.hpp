// A line that takes bytes and never makes anybody wait: what a stream leaves through, and what
// requests come in by.
#pragma once

#include <cstdint>
#include <optional>

namespace mmioscope {

class Line {
public:
    /// Sends `byte` if there is room for it now; false if there is none.
    virtual bool put(std::uint8_t byte) = 0;

    /// The next byte that has come in; nothing if there is none now, or the line has one way only.
    /// One CPU at a time, while others may put().
    virtual std::optional<std::uint8_t> get() { return std::nullopt; }

protected:
    ~Line() = default;
};

} // namespace mmioscope
