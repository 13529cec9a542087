#include "wire/shared_wire.hpp"

namespace mmioscope::wire {

void SharedWire::feed(std::span<const std::byte> bytes) {
    console_.clear();
    stream_.clear();
    for (const std::byte byte : bytes) {
        std::uint8_t of_stream = 0;
        if (abi::shared_wire::is_consoles(std::to_integer<std::uint8_t>(byte))) {
            console_.push_back(byte);
        } else if (unpacker_.add(std::to_integer<std::uint8_t>(byte), of_stream)) {
            stream_.push_back(std::byte{of_stream});
        }
    }
}

} // namespace mmioscope::wire
