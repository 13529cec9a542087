// A line for bytes on which nobody ever waits: the stream is sent over it, and requests come in.
#pragma once

#include <cstdint>
#include <optional>

namespace mmioscope {

class Line {
public:
    /// Sends `byte`. False: there is no room for it now.
    virtual bool put(std::uint8_t byte) = 0;

    /// As put(), but only when all that was sent before has left the FIFO: what comes next has
    /// room.
    virtual bool put_alone(std::uint8_t byte) { return put(byte); }

    /// The next byte received; nothing if there is none now, or if the line only sends. One CPU at
    /// a time may call it, while others put().
    virtual std::optional<std::uint8_t> get() { return std::nullopt; }

protected:
    ~Line() = default;
};

} // namespace mmioscope
