// A line on which requests arrive, and no bytes are sent.
#pragma once

#include "abi/control.hpp"
#include "stream/line.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace mmioscope::sim {

struct IncomingLine : Line {
    std::deque<std::uint8_t> bytes; ///< not read yet

    bool put(std::uint8_t) override { return false; }
    std::optional<std::uint8_t> get() override {
        if (bytes.empty()) return std::nullopt;
        const std::uint8_t byte = bytes.front();
        bytes.pop_front();
        return byte;
    }
    /// Receives the first `size` bytes of a request.
    void add(const abi::control::Request& request,
             std::size_t size = sizeof(abi::control::Request)) {
        const auto* raw = reinterpret_cast<const std::uint8_t*>(&request);
        bytes.insert(bytes.end(), raw, raw + size);
    }
};

} // namespace mmioscope::sim
