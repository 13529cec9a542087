// What a terminal program, or a terminal's settings, did to a stream: guessed from its first bytes.
#pragma once

#include "abi/shared_wire.hpp"
#include "wire/wire_frames.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::wire {

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
