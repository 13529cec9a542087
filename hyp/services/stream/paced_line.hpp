// A line that is no faster than its baud rate, for UARTs of an emulator, which take any number of
// bytes at once. It shows what a real line would do to a trace.
#pragma once

#include "port/sysreg.hpp"
#include "stream/line.hpp"

namespace mmioscope {

class PacedLine : public Line {
public:
    PacedLine() = default;

    /// Sends at most `baud` / 10 bytes a second, by a counter of `frequency` Hz, as if it had a
    /// FIFO of 16 bytes. `baud` 0: as fast as `line` is.
    PacedLine(Line& line, std::uint32_t frequency, std::uint32_t baud)
        : line_(&line), ticks_(baud != 0 ? 10 * std::uint64_t{frequency} / baud : 0) {}

    bool put(std::uint8_t byte) override {
        if (ticks_ == 0) return line_->put(byte);
        const std::uint64_t now = port::read<reg::CNTPCT>();
        if (empty_at_ > now + fifo * ticks_ || !line_->put(byte)) return false;
        empty_at_ = (empty_at_ > now ? empty_at_ : now) + ticks_;
        return true;
    }

    /// The guest waits for it, and is not paced either.
    bool put_alone(std::uint8_t byte) override { return line_->put_alone(byte); }

    std::optional<std::uint8_t> get() override { return line_->get(); }

private:
    static constexpr std::uint64_t fifo = 15; ///< and one byte that is being sent

    Line* line_{};
    std::uint64_t ticks_{};    ///< ticks per byte
    std::uint64_t empty_at_{}; ///< when everything accepted so far is sent
};

} // namespace mmioscope
