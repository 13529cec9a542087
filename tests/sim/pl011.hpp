// A PL011 (DDI 0183) and the other end of its line, which accepts every byte at once.
#pragma once

#include "bus.hpp"

#include <deque>

namespace mmioscope::sim {

class Pl011Model : public Device {
public:
    std::uint64_t read(std::uint64_t offset, unsigned log2_size) override;
    void write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) override;

    /// As if the other end had sent it.
    template <class Message>
    void receive(const Message& message) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&message);
        received.insert(received.end(), bytes, bytes + sizeof message);
    }

    std::vector<std::uint8_t> sent;
    std::deque<std::uint8_t> received; ///< and not read yet
};

} // namespace mmioscope::sim
