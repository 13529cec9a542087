// A line that the guest's console uses as well (abi/shared_wire.hpp).
#pragma once

#include "abi/shared_wire.hpp"
#include "stream/line.hpp"
#include "trace/lock.hpp"

namespace mmioscope {

/// It only sends: received bytes belong to the guest.
class SharedLine : public Line {
public:
    SharedLine() = default;
    /// `frequency` of the counter, in Hz.
    SharedLine(Line& line, std::uint32_t frequency)
        : line_(&line), patience_(frequency / (1000 / patience_in_ms)) {}

    /// A byte that is refused must be given again. Refuses all while a guest's store is under way.
    bool put(std::uint8_t byte) override;

    /// The guest of `cpu` is about to send `byte`: marks it, and sends nothing else until
    /// end_store(). The caller holds the UART's region, so no other CPU does the same. Waits until
    /// the FIFO is empty, 100 ms at most; then the byte goes without a mark, and damages a frame.
    void begin_store(std::uint32_t cpu, std::uint8_t byte);
    /// Behind that, or at any other time: `sent` tells whether the guest has sent the byte.
    void end_store(std::uint32_t cpu, bool sent);

private:
    static constexpr unsigned patience_in_ms = 100;
    static constexpr std::uint32_t streams = 0xff; ///< in place of a CPU's number

    bool send(std::uint8_t byte);
    bool send_alone(std::uint8_t byte);
    void give_back();

    Line* line_{};
    std::uint64_t patience_{}; ///< ticks
    Lock lock_;                ///< of the wire; a CPU holds it while its guest stores
    abi::shared_wire::Packer packer_;
    std::uint8_t mark_{}; ///< the last one
    bool begun_{};
    bool sending_{}; ///< a byte was accepted, but not all of it is sent
};

} // namespace mmioscope
