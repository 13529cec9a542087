// Console and stream on one wire: bytes below 0x80 belong to the console, all others to the stream,
// with seven bits of the stream in each.
//
// The guest's driver, which knows nothing of the stream, may send a console byte at any place; it
// passes unchanged. A lost or changed byte damages at most one frame of the stream, or two if it
// hides the delimiter between them.
//
//   0xff            the zero between two frames (wire.hpp); leftover bits before it are padding
//   0xfe, 0xfd      the next byte is the console's, whatever it is. But 0xfd behind 0xfe, and 0xfe
//                   behind 0xfd, say that there is none: the guest did not send it after all. So
//                   0xfe comes before any byte except 0xfd, and 0xfd before that one. Only the
//                   hypervisor sends these, and nothing else until the guest has sent its byte
//   0x80 | bits     the next seven bits, high ones first. If the next five are all ones, they are
//                   sent alone, as 0xfc; so data is none of the above
//
// Only console bytes of 0x80 or more (UTF-8) need a mark before them; the others may have one.
#pragma once

#include <cstdint>

namespace mmioscope::abi {

/// Bit of RegionEntry::flags (ring.hpp): a UART of the guest's that the stream uses, too.
inline constexpr std::uint16_t region_shared = 1u << 6;

} // namespace mmioscope::abi

namespace mmioscope::abi::shared_wire {

inline constexpr std::uint8_t stream_bit = 0x80;
inline constexpr std::uint8_t delimiter = 0xff;
inline constexpr std::uint8_t mark = 0xfe;
inline constexpr std::uint8_t other_mark = 0xfd;
inline constexpr std::uint8_t five_ones = 0xfc;

/// Whether the console's `byte` needs a mark, and which.
constexpr bool needs_mark(std::uint8_t byte) {
    return (byte & stream_bit) != 0;
}
constexpr std::uint8_t mark_of(std::uint8_t byte) {
    return byte == other_mark ? other_mark : mark;
}
/// What says that no byte follows `the_mark`.
constexpr std::uint8_t withdrawal_of(std::uint8_t the_mark) {
    return the_mark == mark ? other_mark : mark;
}

enum class Owner : std::uint8_t { console, stream, neither };

/// Says whose each byte of the wire is, in their order.
class Splitter {
public:
    constexpr Owner take(std::uint8_t byte) {
        if (mark_ != 0) {
            const bool withdrawn = byte == withdrawal_of(mark_);
            mark_ = 0;
            return withdrawn ? Owner::neither : Owner::console;
        }
        if (byte == mark || byte == other_mark) {
            mark_ = byte;
            return Owner::neither;
        }
        return needs_mark(byte) ? Owner::stream : Owner::console;
    }

private:
    std::uint8_t mark_{}; ///< the last byte, if it was one; else 0
};

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
        if (count_ >= 5 && (bits_ >> (count_ - 5) & 0x1f) == 0x1f) return five_ones;
        const std::uint32_t seven = count_ >= 7 ? bits_ >> (count_ - 7) : bits_ << (7 - count_);
        return static_cast<std::uint8_t>(stream_bit | (seven & 0x7f));
    }

    constexpr void taken() {
        const unsigned used = next() == five_ones ? 5 : 7;
        if (count_ == 0) ending_ = false;
        count_ = count_ > used ? count_ - used : 0;
    }

private:
    std::uint32_t bits_{};
    unsigned count_{}; ///< bits not yet sent, below 15
    bool ending_{};    ///< a zero follows them
};

/// Turns the stream's bytes of the wire into bytes of a stream.
class Unpacker {
public:
    /// Adds a byte of the wire. True if `out` now has a byte of the stream.
    constexpr bool add(std::uint8_t byte, std::uint8_t& out) {
        if (byte == delimiter) {
            count_ = 0;
            out = 0;
            return true;
        }
        const bool five = byte == five_ones;
        bits_ = five ? bits_ << 5 | 0x1f : bits_ << 7 | (byte & 0x7fu);
        count_ += five ? 5 : 7;
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
