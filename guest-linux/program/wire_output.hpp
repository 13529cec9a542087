// A recording as the stream of a board (abi/wire.hpp), made by the hypervisor's own code.
#pragma once

#include "output.hpp"
#include "sink.hpp"
#include "stream/description.hpp"
#include "stream/frame_sender.hpp"
#include "stream/record_frame.hpp"

#include <chrono>

namespace mmioscope::guest {

/// Where to continue after a line took only the first `done` bytes of `bytes`, frames with a zero
/// after each: at the frame that broke off. It has not arrived. A complete one may have, and no
/// record may arrive twice.
std::size_t repeat_from(std::span<const std::uint8_t> bytes, std::size_t done);

class WireOutput : public Output {
public:
    /// `head`: the area's content before its rings, with area.header().
    WireOutput(Sink sink, const rings::Area& area);

    void append(std::span<const abi::Record> records) override;
    void flush() override;
    void finish(const Closing& closing) override;

    std::string doubt() const override;

private:
    /// Collects the sender's bytes.
    class Bytes : public Line {
    public:
        bool put(std::uint8_t byte) override {
            all.push_back(byte);
            return true;
        }
        std::vector<std::uint8_t> all;
    };

    abi::FrameHeader header(abi::FrameType type);
    void describe(const rings::Area& area);
    void send(std::uint8_t* frame, std::size_t size);
    void send_description();
    void send_end(const Closing& closing);
    void close_frame();
    void write();
    void begin_again(std::size_t done);

    using Clock = std::chrono::steady_clock;

    Sink sink_;
    std::uint32_t boot_;
    std::uint16_t sequence_ = 0;
    DescriptionWriter description_;
    RecordFrame frame_;
    FrameSender sender_;
    Bytes bytes_;
    Clock::time_point next_description_;
    std::size_t distance_ = 0;          ///< bytes after which it comes before that
    std::size_t since_description_ = 0; ///< bytes sent since the last one
    std::uint8_t records_[abi::max_frame];
    std::uint8_t other_[abi::max_frame];
};

} // namespace mmioscope::guest
