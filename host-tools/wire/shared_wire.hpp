// Separates console and stream on a shared wire (abi/shared_wire.hpp).
#pragma once

#include "abi/shared_wire.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace mmioscope::wire {

class SharedWire {
public:
    /// Takes the next bytes of the wire, in pieces of any size. console() and stream() have the
    /// result until the next call.
    void feed(std::span<const std::byte> bytes);

    std::span<const std::byte> console() const { return console_; }
    std::span<const std::byte> stream() const { return stream_; }

private:
    abi::shared_wire::Splitter splitter_;
    abi::shared_wire::Unpacker unpacker_;
    std::vector<std::byte> console_;
    std::vector<std::byte> stream_;
};

} // namespace mmioscope::wire
