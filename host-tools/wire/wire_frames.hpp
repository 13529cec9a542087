// Finds the undamaged frames in the bytes of a stream (abi/wire.hpp).
#pragma once

#include "abi/shared_wire.hpp"
#include "abi/wire.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
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

// What a terminal program, or a terminal's settings, did to a stream: guessed from its first bytes.

class Capture {
public:
    /// The next bytes of the stream; looks only at the first ones.
    void feed(std::span<const std::byte> bytes);

    /// Why most of the stream is damaged, and what to do: a sentence. Empty if it is not, or is too
    /// short to say.
    std::string cause(const WireCounts& counts) const;

private:
    void add(std::uint8_t byte);
    std::string what() const;
    std::uint64_t count(std::uint8_t byte) const { return bytes_[byte]; }
    std::uint64_t texts() const;
    void end_line();
    bool is_hex_dump() const;

    static constexpr std::uint64_t most = 1 << 16;   ///< bytes that are looked at
    static constexpr std::uint64_t least = 512;      ///< bytes that say something
    static constexpr std::size_t longest_line = 256; ///< of text; longer ones are cut into pieces
    static constexpr unsigned stamp = 8;             ///< characters of the shortest time stamp

    std::uint64_t all_ = 0;
    std::array<std::uint64_t, 256> bytes_{};
    std::uint8_t before_ = 0;
    std::uint64_t feeds_behind_cr_ = 0; ///< LF with CR in front
    unsigned at_ = stamp;               ///< of a possible time stamp; `stamp`: in none
    unsigned digits_ = 0;               ///< in it
    std::uint64_t stamps_ = 0;          ///< that follow an LF
    std::string line_;                  ///< since the last LF
    std::uint64_t lines_ = 0;           ///< with something in it
    std::uint64_t dumped_ = 0;          ///< those that look as if from a hex dump
    std::uint64_t digits_0_9_ = 0;      ///< in these
    std::uint64_t digits_a_f_ = 0;
};

// Separates console and stream on a shared wire (abi/shared_wire.hpp).

class SharedWire {
public:
    /// Takes the next bytes of the wire, in pieces of any size. console() and stream() have the
    /// result until the next call.
    void feed(std::span<const std::byte> bytes);

    std::span<const std::byte> console() const { return console_; }
    std::span<const std::byte> stream() const { return stream_; }

private:
    abi::shared_wire::Splitter splitter_;
    abi::shared_wire::Unpacker unpacker_;
    std::vector<std::byte> console_;
    std::vector<std::byte> stream_;
};

} // namespace mmioscope::wire
