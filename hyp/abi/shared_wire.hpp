// Console and stream on one wire: bytes below 0x80 are the console's, all others the stream's,
// seven bits of it in each.
//
// Constraints: the console's bytes go by untouched and at any place, sent by a driver that knows of
// nothing; a lost or changed byte spoils one frame of the stream at most.
//
//   0xff            the zero between two frames (wire.hpp); bits that are left over in front of it
//                   are none
//   0x80 | bits     the next seven bits, the high ones first. Where the next six are all ones they
//                   go alone, as 0xfe: so 0xff is never data
//
// A console's byte of 0x80 or more (UTF-8) is taken for the stream's: it is lost to the console,
// and the frame that it falls into is damaged.
#pragma once

#include <cstdint>

namespace mmioscope::abi::shared_wire {

inline constexpr std::uint8_t stream_bit = 0x80;
inline constexpr std::uint8_t delimiter = 0xff;
inline constexpr std::uint8_t six_ones = 0xfe;

/// Whether `byte` of the wire is the console's.
constexpr bool is_consoles(std::uint8_t byte) {
    return (byte & stream_bit) == 0;
}

/// Bytes of a stream to bytes of the wire.
class Packer {
public:
    /// Takes the next byte of the stream. All of what next() has is to be taken first.
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

    /// The next one, if there is; it stays until taken().
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
    unsigned count_{}; ///< of them are not sent yet, below 15
    bool ending_{};    ///< a zero stands behind them
};

/// Bytes of the wire, but for the console's, to bytes of a stream.
class Unpacker {
public:
    /// True if `out` is a byte of the stream now.
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
