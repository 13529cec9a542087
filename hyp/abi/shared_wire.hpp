// Console and stream on one wire: bytes below 0x80 belong to the console, all others to the stream,
// with seven bits of the stream in each.
//
// The guest's driver, which knows nothing of the stream, may send a console byte at any place; it
// passes unchanged. A lost or changed byte damages at most one frame of the stream.
//
//   0xff            the zero between two frames (wire.hpp); leftover bits before it are padding
//   0x80 | bits     the next seven bits, high ones first. If the next six are all ones, they are
//                   sent alone, as 0xfe; so data is never 0xff
//
// A console byte of 0x80 or more (UTF-8) is taken as the stream's: the console loses it, and the
// frame around it is damaged.
#pragma once

#include <cstdint>

namespace mmioscope::abi::shared_wire {

inline constexpr std::uint8_t stream_bit = 0x80;
inline constexpr std::uint8_t delimiter = 0xff;
inline constexpr std::uint8_t six_ones = 0xfe;

/// Whether `byte` belongs to the console.
constexpr bool is_consoles(std::uint8_t byte) {
    return (byte & stream_bit) == 0;
}

/// Turns bytes of a stream into bytes of the wire.
class Packer {
public:
    /// Adds the next byte of the stream. Precondition: everything was taken, that is any() is
    /// false.
    constexpr void add(std::uint8_t byte) {
        if (byte == 0) {
            ending_ = true;
            return;
        }
        bits_ = bits_ << 8 | byte;
        count_ += 8;
    }

    /// Whether there is a byte for the wire.
    constexpr bool any() const { return ending_ || count_ >= 7; }

    /// The next byte for the wire, if any(); it stays until taken().
    constexpr std::uint8_t next() const {
        if (count_ == 0) return delimiter;
        if (count_ >= 6 && (bits_ >> (count_ - 6) & 0x3f) == 0x3f) return six_ones;
        const std::uint32_t seven = count_ >= 7 ? bits_ >> (count_ - 7) : bits_ << (7 - count_);
        return static_cast<std::uint8_t>(stream_bit | (seven & 0x7f));
    }

    constexpr void taken() {
        const unsigned used = next() == six_ones ? 6 : 7;
        if (count_ == 0) ending_ = false;
        count_ = count_ > used ? count_ - used : 0;
    }

private:
    std::uint32_t bits_{};
    unsigned count_{}; ///< bits not yet sent, below 15
    bool ending_{};    ///< a zero follows them
};

/// Turns bytes of the wire, without the console's, into bytes of a stream.
class Unpacker {
public:
    /// Adds a byte of the wire. True if `out` now has a byte of the stream.
    constexpr bool add(std::uint8_t byte, std::uint8_t& out) {
        if (byte == delimiter) {
            count_ = 0;
            out = 0;
            return true;
        }
        const bool six = byte == six_ones;
        bits_ = six ? bits_ << 6 | 0x3f : bits_ << 7 | (byte & 0x7fu);
        count_ += six ? 6 : 7;
        if (count_ < 8) return false;
        count_ -= 8;
        out = static_cast<std::uint8_t>(bits_ >> count_);
        return true;
    }

private:
    std::uint32_t bits_{};
    unsigned count_{};
};

} // namespace mmioscope::abi::shared_wire
