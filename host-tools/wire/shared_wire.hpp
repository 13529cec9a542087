// Separates console and stream that share a wire (abi/shared_wire.hpp).
#pragma once

#include "abi/shared_wire.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace mmioscope::wire {

class SharedWire {
public:
    /// The next bytes of the wire, in pieces of any size. What they tell is in console() and
    /// stream() until the next ones.
    void feed(std::span<const std::byte> bytes);

    std::span<const std::byte> console() const { return console_; }
    std::span<const std::byte> stream() const { return stream_; }

private:
    abi::shared_wire::Unpacker unpacker_;
    std::vector<std::byte> console_;
    std::vector<std::byte> stream_;
};

} // namespace mmioscope::wire
