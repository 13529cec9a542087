// A binary arithmetic coder with adaptive probabilities: the bit level of the stream.
//
// Constraints: no heap, no division, one multiplication for each bit; encoder and decoder are the
// same arithmetic in 32 bits, so that a codec is written once, as a template over both (see
// abi/record_codec.hpp): bit(p, b) encodes `b` or returns what was encoded.
//
// Layout: the bytes of one number in [0, 1), most significant first, cut where only zeros follow.
// The decoder takes zeros behind the end, so it never reads beyond; that the bytes are sound is a
// CRC's to say, and whatever they hold, decoding them ends.
//
// `most_bits` of a part: what coding it takes at most, whatever the guest has taught it. That is
// the sum of its parts' bits; tests/host-tools/test_coded_size.cpp compares it with what is coded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope::abi {

/// The probability of a zero bit, in two bytes. All zero bytes are a new one (1/2), so that a model
/// is reset by clearing its memory. Learns fast at first, then slowly.
class Probability {
public:
    /// Of one bit, also of one that was never expected. A guest may teach any probability. It takes
    /// 10.6; the rest is for what raw() rounds away.
    static constexpr unsigned most_bits = 11;

    /// Of 2^16; never so near to 0 or 1 that a bit would cost more than `most_bits`.
    std::uint32_t zero() const { return (state_ ^ half) & ~seen_mask; }

    /// Moves it a half of the way to 0 or 1, then a quarter, an eighth, and from then on a
    /// sixteenth.
    void update(bool bit) {
        std::uint32_t zero = this->zero();
        const unsigned rate = (state_ & seen_mask) + 1;
        if (bit) zero -= (zero - lowest) >> rate;
        else zero += (highest - zero) >> rate;
        state_ = static_cast<std::uint16_t>(((zero ^ half) & ~seen_mask) |
                                            (rate > seen_mask ? seen_mask : rate));
    }

private:
    static constexpr std::uint32_t half = 1u << 15;
    static constexpr std::uint32_t lowest = 32;
    static constexpr std::uint32_t highest = (1u << 16) - 32;
    static constexpr std::uint32_t seen_mask = 3;

    /// zero() from 1/2; in the lowest two bits how many bits it has seen, up to 3.
    std::uint16_t state_{};
};
static_assert(sizeof(Probability) == 2);

class Encoder {
public:
    static constexpr bool encoding = true;

    void start(std::uint8_t* to, std::size_t room) { *this = {}, bytes_ = to, room_ = room; }

    bool bit(Probability& p, bool b) {
        const std::uint32_t bound = (range_ >> 16) * p.zero();
        p.update(b);
        if (b) skip(bound, range_ - bound);
        else skip(0, bound);
        return b;
    }

    /// `count` bits (0 to 16) that nobody can predict.
    std::uint32_t raw(std::uint32_t bits, unsigned count) {
        const std::uint32_t part = range_ >> count;
        skip(part * bits, part);
        return bits;
    }

    /// Ends the number. Returns its bytes; more than `room` if there was too little of it.
    std::size_t finish() {
        // The shortest number in [low, low + range): range is at least 2^24.
        if (low_ != 0) skip((0u - low_) & 0xff'ffff, 1u << 16);
        std::size_t end = size_;
        while (end > 0 && end <= room_ && bytes_[end - 1] == 0) --end;
        return end;
    }

    std::size_t size() const { return size_; } ///< bytes so far, less at most four

private:
    void skip(std::uint32_t below, std::uint32_t range) {
        low_ += below;
        range_ = range;
        if (low_ < below) carry();
        if (range < 1u << 24) shift_out();
    }

    // Once in some bits: not part of the way that each bit goes.
    [[gnu::noinline]] void shift_out() {
        do {
            if (size_ < room_) bytes_[size_] = static_cast<std::uint8_t>(low_ >> 24);
            ++size_;
            low_ <<= 8;
            range_ <<= 8;
        } while (range_ < 1u << 24);
    }

    /// There is always a byte to take it: the number stays below 1.
    [[gnu::noinline]] void carry() {
        for (std::size_t i = size_; i-- > 0;)
            if (i >= room_ || ++bytes_[i] != 0) return;
    }

    std::uint8_t* bytes_{};
    std::size_t room_{};
    std::size_t size_{};
    std::uint32_t low_{};
    std::uint32_t range_{~0u};
};

class Decoder {
public:
    static constexpr bool encoding = false;

    void start(const std::uint8_t* from, std::size_t size) {
        *this = {}, bytes_ = from, size_ = size;
        for (int i = 0; i < 4; ++i) code_ = code_ << 8 | next();
    }

    bool bit(Probability& p, bool) {
        const std::uint32_t bound = (range_ >> 16) * p.zero();
        const bool b = code_ >= bound;
        b ? skip(bound, range_ - bound) : skip(0, bound);
        p.update(b);
        return b;
    }

    std::uint32_t raw(std::uint32_t, unsigned count) {
        const std::uint32_t part = range_ >> count;
        std::uint32_t bits = code_ / part;
        if (bits >> count != 0) bits = (1u << count) - 1; // no encoder wrote this
        skip(part * bits, part);
        return bits;
    }

private:
    void skip(std::uint32_t below, std::uint32_t range) {
        code_ -= below;
        range_ = range;
        while (range_ < 1u << 24) {
            code_ = code_ << 8 | next();
            range_ <<= 8;
        }
    }

    std::uint32_t next() { return at_ < size_ ? bytes_[at_++] : 0u; }

    const std::uint8_t* bytes_{};
    std::size_t size_{};
    std::size_t at_{};
    std::uint32_t code_{};
    std::uint32_t range_{~0u};
};

// A dozen fields are coded by each of the following: inlined they would take 6 KiB more.

/// A number of `Bits` bits, most significant first, each with a probability for what came before
/// it.
template <unsigned Bits>
class BitTree {
public:
    static constexpr unsigned most_bits = Bits * Probability::most_bits;

    template <class Coder>
    [[gnu::noinline]] std::uint32_t code(Coder& coder, std::uint32_t value) {
        std::uint32_t node = 1;
        for (unsigned i = Bits; i-- > 0;)
            node = node << 1 | std::uint32_t{coder.bit(nodes_[node], (value >> i & 1) != 0)};
        return node - (1u << Bits);
    }

private:
    Probability nodes_[1u << Bits];
};

/// `count` unpredictable bits, up to 64.
template <class Coder>
std::uint64_t code_raw(Coder& coder, std::uint64_t bits, unsigned count) {
    std::uint64_t result = 0;
    for (unsigned left = count; left > 0;) {
        const unsigned part = left > 16 ? 16 : left;
        left -= part;
        result = result << part |
                 coder.raw(static_cast<std::uint32_t>(bits >> left) & ((1u << part) - 1), part);
    }
    return result;
}

/// What the leading bits of numbers of one length are like.
class LeadingBits {
public:
    /// Of `count` bits.
    static constexpr unsigned most_bits(unsigned count) {
        const unsigned leading = count < predicted ? count : predicted;
        return leading * Probability::most_bits + (count - leading);
    }

    /// `count` bits; the first ones are predicted.
    template <class Coder>
    [[gnu::noinline]] std::uint64_t code(Coder& coder, std::uint64_t bits, unsigned length,
                                         unsigned count) {
        const unsigned leading = count < predicted ? count : predicted;
        std::uint32_t node = 1;
        for (unsigned i = 0; i < leading; ++i)
            node = node << 1 | std::uint32_t{coder.bit(nodes_[length][node],
                                                       (bits >> (count - 1 - i) & 1) != 0)};
        const std::uint64_t first = node - (1u << leading);
        const unsigned rest = count - leading;
        return first << rest | code_raw(coder, bits & ((1ull << rest) - 1), rest);
    }

private:
    static constexpr unsigned predicted = 4;

    Probability nodes_[32][1u << predicted];
};

/// A number that is small more often than not: its length in bits, then the bits.
class Number {
    static constexpr unsigned length_bits = 5;

protected:
    static constexpr unsigned long_length = 31; ///< all lengths that are not worth a place

    /// Of the bits behind the length: 64, or those below the top one.
    static constexpr unsigned most_below_top = LeadingBits::most_bits(long_length - 2);
    static constexpr unsigned most_rest = most_below_top > 64 ? most_below_top : 64;

public:
    static constexpr unsigned most_bits = BitTree<length_bits>::most_bits + most_rest;

    template <class Coder>
    [[gnu::noinline]] std::uint64_t code(Coder& coder, std::uint64_t value, LeadingBits& bits) {
        return code_bits(coder, value, lengths_.code(coder, length<Coder>(value)), bits);
    }

protected:
    template <class Coder>
    static unsigned length(std::uint64_t value) {
        if (!Coder::encoding || value == 0) return 0;
        const unsigned bits = 64 - static_cast<unsigned>(__builtin_clzll(value));
        return bits < long_length ? bits : long_length;
    }

    template <class Coder>
    static std::uint64_t code_bits(Coder& coder, std::uint64_t value, unsigned length,
                                   LeadingBits& bits) {
        if (length == long_length) return code_raw(coder, value, 64);
        if (length < 2) return length;
        const std::uint64_t top = 1ull << (length - 1);
        return top | bits.code(coder, value & (top - 1), length, length - 1);
    }

    BitTree<length_bits> lengths_;
};

/// One that is what it was the last time more often than not, or as long as one of the last two.
class SteadyNumber : Number {
public:
    static constexpr unsigned most_bits = 3 * Probability::most_bits + Number::most_bits;

    template <class Coder>
    [[gnu::noinline]] std::uint64_t code(Coder& coder, std::uint64_t value, LeadingBits& bits) {
        if (!coder.bit(same_, value != value_)) return value_;
        return value_ = code_bits(coder, value, code_length(coder, length<Coder>(value)), bits);
    }

private:
    template <class Coder>
    unsigned code_length(Coder& coder, unsigned length) {
        if (!coder.bit(as_long_[0], length != lengths_of_[0])) return lengths_of_[0];
        if (!coder.bit(as_long_[1], length != lengths_of_[1])) length = lengths_of_[1];
        else length = lengths_.code(coder, length);
        lengths_of_[1] = lengths_of_[0];
        lengths_of_[0] = static_cast<std::uint8_t>(length);
        return length;
    }

    std::uint64_t value_{};
    Probability same_;
    Probability as_long_[2];
    std::uint8_t lengths_of_[2]{}; ///< latest first
};

/// Small numbers of either sign as small ones of none: 0, -1, 1, -2, ...
constexpr std::uint64_t fold_sign(std::uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unfold_sign(std::uint64_t folded) {
    return folded >> 1 ^ (0 - (folded & 1));
}

} // namespace mmioscope::abi
