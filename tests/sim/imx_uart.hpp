// A UART of the i.MX family (IMX7DRM 15.2): its transmitter, with a reader at the other end of the
// line who may stall, and its receiver. Fails if a byte is written without room for it.
#pragma once

#include "bus.hpp"

#include <deque>
#include <map>

namespace mmioscope::sim {

class ImxUartModel : public Device {
public:
    static constexpr unsigned fifo = 32; ///< bytes, of each

    std::uint64_t read(std::uint64_t offset, unsigned log2_size) override;
    void write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) override;

    /// The line takes a byte, if there is one.
    void send();

    std::vector<std::uint8_t> sent;
    std::deque<std::uint8_t> received;                ///< not read yet
    std::map<std::uint64_t, std::uint64_t> registers; ///< as written
    std::vector<std::uint64_t> order;                 ///< offsets in the order of the writes

private:
    std::deque<std::uint8_t> waiting_;
};

} // namespace mmioscope::sim
