// Finds the undamaged frames in the bytes of a stream (abi/wire.hpp).
#pragma once

#include "abi/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mmioscope::wire {

/// The boots of a stream that are told apart: more are no machine's.
inline constexpr std::size_t most_boots = 1024;

/// Whether a frame has arrived before.
enum class Age {
    unknown,
    fresh,
    stale,
    first, ///< what arrived of its boot before is forgotten
};

/// What arrived over the wire, and what was wrong with it.
struct WireCounts {
    std::uint64_t bytes = 0;
    std::uint64_t frames = 0;   ///< undamaged frames
    std::uint64_t damaged = 0;  ///< pieces between zeros that are not undamaged frames
    std::uint64_t missing = 0;  ///< missing frames, by their sequence, including damaged ones
    std::uint64_t repeated = 0; ///< frames that arrived again, or too late, behind later ones
};

class WireFrames {
public:
    /// Returns what the frame's content says of its age. `payload` is valid only during the call.
    using OnFrame =
        std::function<Age(const abi::FrameHeader&, std::span<const std::uint8_t> payload)>;
    /// What may have been frames: bytes between two zeros, or before the end of the stream, no more
    /// than a frame has; empty if only the number of the next frame shows that some are missing.
    using Spoilt = std::function<void(std::span<const std::uint8_t> piece)>;

    /// Passes each undamaged frame to `take`, and what else should have been one to `spoilt`. Bytes
    /// before the first zero are not damage: the listener came late.
    WireFrames(OnFrame on_frame, Spoilt spoilt)
        : on_frame_(std::move(on_frame)), spoilt_(std::move(spoilt)) {}

    /// The next bytes, in pieces of any size. Throws Error (bad_input) at a frame with a newer
    /// version.
    void feed(std::span<const std::byte> bytes);

    /// No more bytes follow: an incomplete piece counts as damaged.
    void finish();

    const WireCounts& counts() const { return counts_; }
    /// Whether a frame, by its number, is not later than all others of its boot. More than half of
    /// all numbers in a hole look like this, too.
    bool goes_back(const abi::FrameHeader& header) const;
    /// Whether the last frame is the latest one of its boot: what follows is behind all others.
    bool at_latest() const { return at_latest_; }

private:
    void end_piece();
    bool end_frame();
    void begin_boot(const abi::FrameHeader& header);
    void count(const abi::FrameHeader& header, Age age);

    OnFrame on_frame_;
    Spoilt spoilt_;
    WireCounts counts_;
    std::vector<std::uint8_t> piece_; ///< since the last zero, no longer than a frame may be
    std::vector<std::uint8_t> frame_;
    bool in_step_ = false; ///< a zero was seen
    bool at_latest_ = true;
    std::vector<abi::FrameHeader> latest_; ///< of each boot
};

} // namespace mmioscope::wire
