#include "wire/shared_wire.hpp"

namespace mmioscope::wire {

void SharedWire::feed(std::span<const std::byte> bytes) {
    console_.clear();
    stream_.clear();
    for (const std::byte byte : bytes) {
        const auto value = std::to_integer<std::uint8_t>(byte);
        std::uint8_t of_stream = 0;
        const abi::shared_wire::Owner owner = splitter_.take(value);
        if (owner == abi::shared_wire::Owner::console) {
            console_.push_back(byte);
        } else if (owner == abi::shared_wire::Owner::stream && unpacker_.add(value, of_stream)) {
            stream_.push_back(std::byte{of_stream});
        }
    }
}

} // namespace mmioscope::wire
