// Finds the undamaged frames in the bytes of a stream (abi/wire.hpp).
#pragma once

#include "abi/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mmioscope::wire {

/// What arrived over the wire, and what was wrong with it.
struct WireCounts {
    std::uint64_t bytes = 0;
    std::uint64_t frames = 0;  ///< undamaged frames
    std::uint64_t damaged = 0; ///< pieces between zeros that are not undamaged frames
    std::uint64_t missing = 0; ///< missing frames, by their sequence, including damaged ones
};

class WireFrames {
public:
    /// `payload` is valid only during the call.
    using Take =
        std::function<void(const abi::FrameHeader&, std::span<const std::uint8_t> payload)>;

    /// Passes each undamaged frame to `take`. Bytes before the first zero are not damage: the
    /// listener came late.
    explicit WireFrames(Take take) : take_(std::move(take)) {}

    /// The next bytes, in pieces of any size. Throws Error (bad_input) at a frame with a newer
    /// version.
    void feed(std::span<const std::byte> bytes);

    /// No more bytes follow: an incomplete piece counts as damaged.
    void finish();

    const WireCounts& counts() const { return counts_; }

private:
    void end_piece();
    bool take_frame();
    void count_missing(const abi::FrameHeader& header);

    Take take_;
    WireCounts counts_;
    std::vector<std::uint8_t> piece_; ///< since the last zero, no longer than a frame may be
    std::vector<std::uint8_t> frame_;
    bool in_step_ = false; ///< a zero was seen
    bool any_ = false;     ///< a frame was seen
    abi::FrameHeader last_{};
};

} // namespace mmioscope::wire
