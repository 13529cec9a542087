// A line that is no faster than its baud rate says, for UARTs that take any number of bytes at
// once: an emulator's. What a real line would do to a trace can be seen that way.
#pragma once

#include "dev/line.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

class PacedLine : public Line {
public:
    PacedLine() = default;

    /// At most `baud` / 10 bytes a second by a counter of `frequency` Hz, behind a FIFO of 16
    /// bytes; 0: as fast as `line` is.
    PacedLine(Line& line, std::uint32_t frequency, std::uint32_t baud)
        : line_(&line), ticks_(baud != 0 ? 10 * std::uint64_t{frequency} / baud : 0) {}

    bool put(std::uint8_t byte) override {
        if (ticks_ == 0) return line_->put(byte);
        const std::uint64_t now = port::read<reg::CNTPCT>();
        if (empty_at_ > now + fifo * ticks_ || !line_->put(byte)) return false;
        empty_at_ = (empty_at_ > now ? empty_at_ : now) + ticks_;
        return true;
    }

    std::optional<std::uint8_t> get() override { return line_->get(); }

private:
    static constexpr std::uint64_t fifo = 15; ///< and one that is being sent

    Line* line_{};
    std::uint64_t ticks_{};    ///< a byte takes
    std::uint64_t empty_at_{}; ///< when all that was taken is sent
};

} // namespace mmioscope
