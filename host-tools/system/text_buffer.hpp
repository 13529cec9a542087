// A buffer for text that is written millions of times: appends numbers and pieces with a few
// instructions each.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace mmioscope {

/// A text that is appended repeatedly. Stores short texts, the usual case, in itself.
template <std::size_t short_size>
class BasicPiece {
public:
    BasicPiece() = default;
    explicit BasicPiece(std::string_view text) : size_(static_cast<std::uint32_t>(text.size())) {
        if (text.size() <= short_size) {
            std::memcpy(short_.data(), text.data(), text.size());
        } else {
            long_ = std::make_unique_for_overwrite<char[]>(text.size());
            std::memcpy(long_.get(), text.data(), text.size());
        }
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    bool is_short() const { return size_ <= short_size; }
    std::string_view view() const { return {is_short() ? short_.data() : long_.get(), size_}; }

private:
    friend class TextCursor;

    std::array<char, short_size> short_{};
    std::unique_ptr<char[]> long_;
    std::uint32_t size_ = 0;
};

class TextCursor;

/// Likewise for any length: copied in whole blocks. Do not append an empty one.
class Piece {
public:
    Piece() = default;
    explicit Piece(std::string_view text)
        : text_(std::make_unique_for_overwrite<char[]>(
              std::max<std::size_t>((text.size() + block - 1) / block, 1) * block)),
          size_(text.copy(text_.get(), text.size())) {}
    /// Empty, with room for `most` characters.
    explicit Piece(std::size_t most);

    std::size_t size() const { return size_; }
    std::string_view view() const { return {text_.get(), size_}; }

    /// The position to write another text to in place of this one, in the room that there is.
    TextCursor cursor();
    /// Ends the text there.
    void end(const TextCursor& cursor);

private:
    friend class TextCursor;
    static constexpr std::size_t block = 64;

    std::unique_ptr<char[]> text_;
    std::size_t size_ = 0;
};

/// A position to write text to. The caller ensures that there is enough room.
class TextCursor {
public:
    /// Writes may reach this many characters beyond the text, because short pieces and blanks are
    /// copied whole.
    static constexpr std::size_t slack = 128;

    explicit TextCursor(char* at) : at_(at) {}
    char* at() const { return at_; }

    void append(char c) { *at_++ = c; }
    void append(std::string_view text) {
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
    }
    /// Three digits.
    void three_digits(std::uint32_t number) {
        std::memcpy(at_, triples[number].padded.data(), 4);
        at_ += 3;
    }
    /// Six digits.
    void six_digits(std::uint32_t number) {
        three_digits(number / 1000);
        three_digits(number % 1000);
    }
    /// A text of at most eight characters in an array of eight.
    void append(const char (&text)[8], std::size_t size) {
        std::memcpy(at_, text, 8);
        at_ += size;
    }
    /// A text of at most 32 characters, in 32 readable bytes.
    void append_short(std::string_view text) {
        std::array<char, 32> copy;
        std::memcpy(copy.data(), text.data(), copy.size());
        std::memcpy(at_, copy.data(), copy.size());
        at_ += text.size();
    }
    /// Likewise for 16.
    void append(const std::array<char, 16>& text, std::size_t size) {
        std::memcpy(at_, text.data(), 16);
        at_ += size;
    }
    /// Overwrites `place` with the bytes of a number, or of a struct of numbers.
    template <typename T>
    static void put_bytes(char* place, const T& bytes) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(place, &bytes, sizeof bytes);
    }
    /// Appends the bytes of a number, or of a struct of numbers.
    template <typename T>
    void append_bytes(const T& bytes) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(at_, &bytes, sizeof bytes);
        at_ += sizeof bytes;
    }
    void append(const Piece& piece) {
        static_assert(Piece::block <= slack);
        std::memcpy(at_, piece.text_.get(), Piece::block);
        for (std::size_t i = Piece::block; i < piece.size_; i += Piece::block) {
            std::memcpy(at_ + i, piece.text_.get() + i, Piece::block);
        }
        at_ += piece.size_;
    }
    /// A short piece.
    template <std::size_t size>
    void append(const BasicPiece<size>& piece) {
        static_assert(size <= slack);
        constexpr std::size_t most = std::min<std::size_t>(size, 64); // enough for nearly all
        std::memcpy(at_, piece.short_.data(), most);
        if (piece.size_ > most) {
            std::memcpy(at_ + most, piece.short_.data() + most, size - most);
        }
        at_ += piece.size_;
    }

    /// A piece of any length; there must be room for it.
    template <std::size_t size>
    void append_any(const BasicPiece<size>& piece) {
        if (piece.is_short()) [[likely]] {
            append(piece);
        } else {
            append(piece.view());
        }
    }

    /// Appends `count` blanks, at most 32.
    void pad(std::size_t count) {
        std::memset(at_, ' ', 32);
        at_ += count;
    }
    /// Appends blanks up to `width` after a text of `size`; at most 32.
    void pad_to(std::size_t width, std::size_t size) {
        std::memset(at_, ' ', 32);
        at_ += size < width ? width - size : 0;
    }

    // Longer functions are static: an object stays in a register if its address is not passed on.

    /// "0x" and eight digits.
    void hex8(std::uint32_t number) {
        const std::uint64_t digits = spread(number);
        std::memcpy(at_, "0x", 2);
        std::memcpy(at_ + 2, &digits, 8);
        at_ += 10;
    }
    /// "0x" and `digits` digits, 1 to 16.
    void hex(std::uint64_t number, unsigned digits) { at_ = hex_at(at_, number, digits); }
    /// "0x", and as many digits as it takes.
    void hex(std::uint64_t number) { hex(number, hex_digits(number)); }
    static constexpr unsigned hex_digits(std::uint64_t number) {
        return number == 0 ? 1 : (67 - static_cast<unsigned>(__builtin_clzll(number))) / 4;
    }

    [[gnu::always_inline]] void decimal(std::uint64_t number) {
        at_ = number < 1'000 ? digits_at<0>(at_, number) : long_decimal_at(at_, number);
    }

private:
    static char* hex_at(char* at, std::uint64_t number, unsigned digits) {
        std::memcpy(at, "0x", 2);
        std::uint64_t low = spread(number);
        if (digits > 8) {
            const std::uint64_t high = spread(number >> 32) >> (8 * (16 - digits));
            std::memcpy(at + 2, &high, 8);
            std::memcpy(at + 2 + (digits - 8), &low, 8);
        } else {
            low >>= 8 * (8 - digits);
            std::memcpy(at + 2, &low, 8);
        }
        return at + 2 + digits;
    }

    /// The digits of a number below 1000.
    struct Triple {
        std::array<char, 4> padded; ///< "007"
        std::array<char, 4> plain;  ///< "7"; the last byte is their number
    };
    static constexpr auto triples = [] {
        std::array<Triple, 1000> all{};
        for (unsigned i = 0; i < all.size(); ++i) {
            const char digits[] = {char('0' + i / 100), char('0' + i / 10 % 10),
                                   char('0' + i % 10)};
            const unsigned zeros = i >= 100 ? 0 : i >= 10 ? 1 : 2;
            all[i].plain[3] = static_cast<char>(3 - zeros);
            for (unsigned j = 0; j < 3; ++j) {
                all[i].padded[j] = digits[j];
                all[i].plain[j] = digits[std::min(j + zeros, 2u)];
            }
        }
        return all;
    }();

    /// The digits of a number whose last `triples_behind` groups of three follow the first three or
    /// fewer.
    template <unsigned triples_behind>
    static char* digits_at(char* at, std::uint64_t number) {
        TextCursor to(at);
        if constexpr (triples_behind == 0) {
            const Triple& digits = triples[number];
            std::memcpy(at, digits.plain.data(), 4);
            return at + digits.plain[3];
        } else {
            to.at_ = digits_at<triples_behind - 1>(at, number / 1000);
            to.three_digits(static_cast<std::uint32_t>(number % 1000));
            return to.at_;
        }
    }

    /// For four digits or more.
    static char* long_decimal_at(char* at, std::uint64_t number) {
        constexpr std::uint64_t tera = 1'000'000'000'000;
        if (number < 1'000'000) {
            return digits_at<1>(at, number);
        }
        if (number < 1'000'000'000) {
            return digits_at<2>(at, number);
        }
        if (number < tera) {
            return digits_at<3>(at, number);
        }
        TextCursor to(at);
        to.decimal(number / tera);
        const std::uint64_t rest = number % tera;
        to.six_digits(static_cast<std::uint32_t>(rest / 1'000'000));
        to.six_digits(static_cast<std::uint32_t>(rest % 1'000'000));
        return to.at_;
    }

    // The eight hexadecimal digits of the low 32 bits, the first one in the lowest byte.
    static std::uint64_t spread(std::uint64_t number) {
        static constexpr std::array<std::uint16_t, 256> pairs = [] {
            constexpr std::string_view digits = "0123456789abcdef";
            std::array<std::uint16_t, 256> all{};
            for (std::size_t i = 0; i < all.size(); ++i) {
                all[i] = static_cast<std::uint16_t>(digits[i / 16] | digits[i % 16] << 8);
            }
            return all;
        }();
        return pairs[number >> 24 & 0xff] | std::uint64_t{pairs[number >> 16 & 0xff]} << 16 |
               std::uint64_t{pairs[number >> 8 & 0xff]} << 32 |
               std::uint64_t{pairs[number & 0xff]} << 48;
    }

    char* at_;
};

/// "0x", and as many digits as it takes, `least` at least: 1 to 16.
inline std::string hex_text(std::uint64_t number, unsigned least = 1) {
    std::array<char, 18 + TextCursor::slack> text;
    TextCursor at(text.data());
    at.hex(number, std::max(least, TextCursor::hex_digits(number)));
    return {text.data(), at.at()};
}

inline Piece::Piece(std::size_t most)
    : text_(std::make_unique_for_overwrite<char[]>(most + TextCursor::slack)) {}
inline TextCursor Piece::cursor() {
    return TextCursor(text_.get());
}
inline void Piece::end(const TextCursor& cursor) {
    size_ = static_cast<std::size_t>(cursor.at() - text_.get());
}

/// The digits of a number that grows slowly: keeps all but the last six, or three for 32 bits.
template <std::unsigned_integral Number>
class SlowNumber {
public:
    [[nodiscard]] [[gnu::always_inline]] TextCursor append(TextCursor to, Number number) {
        constexpr bool is_long = sizeof(Number) > 4;
        constexpr Number part = is_long ? 1'000'000 : 1'000;
        const Number upper = number / part;
        if (upper != upper_) [[unlikely]] {
            keep(upper);
        }
        if (upper == 0) [[unlikely]] {
            to.decimal(number);
        } else {
            to.append(digits_, size_);
            const auto lower = static_cast<std::uint32_t>(number % part);
            is_long ? to.six_digits(lower) : to.three_digits(lower);
        }
        return to;
    }

private:
    [[gnu::noinline]] void keep(Number upper) {
        upper_ = upper;
        TextCursor digits(digits_.data());
        digits.decimal(upper);
        size_ = static_cast<std::size_t>(digits.at() - digits_.data());
    }

    Number upper_ = 0;
    std::array<char, 16> digits_{}; ///< at most 14, and what decimal() writes behind them
    std::size_t size_ = 0;
};

class TextBuffer {
public:
    TextBuffer()
        : text_(std::make_unique_for_overwrite<char[]>(first_size)), capacity_(first_size) {}

    std::string_view view() const { return {text_.get(), size_}; }
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }

    /// The position to continue at, with room for `most` characters.
    TextCursor cursor(std::size_t most) {
        if (capacity_ - size_ < most + TextCursor::slack) [[unlikely]] {
            grow(most);
        }
        return TextCursor(text_.get() + size_);
    }
    /// Ends the text there.
    void end(const TextCursor& cursor) {
        size_ = static_cast<std::size_t>(cursor.at() - text_.get());
    }

    void append(std::string_view text) {
        std::memcpy(cursor(text.size()).at(), text.data(), text.size());
        size_ += text.size();
    }
    void append(char c) { append(std::string_view(&c, 1)); }
    template <std::size_t size>
    void append(const BasicPiece<size>& piece) {
        append(piece.view());
    }
    /// Appends blanks up to `width` after a text of `size`.
    void pad_to(std::size_t width, std::size_t size) {
        for (; size < width; ++size) {
            append(' ');
        }
    }
    void decimal(std::uint64_t number) {
        TextCursor at = cursor(20);
        at.decimal(number);
        end(at);
    }
    void hex(std::uint64_t number) {
        TextCursor at = cursor(18);
        at.hex(number);
        end(at);
    }
    void hex(std::uint64_t number, unsigned digits) {
        TextCursor at = cursor(18);
        at.hex(number, digits);
        end(at);
    }
    void six_digits(std::uint32_t number) {
        TextCursor at = cursor(6);
        at.six_digits(number);
        end(at);
    }

private:
    static constexpr std::size_t first_size = 1024;

    [[gnu::noinline]] void grow(std::size_t most) {
        capacity_ = 2 * capacity_ + most + TextCursor::slack;
        auto more = std::make_unique_for_overwrite<char[]>(capacity_);
        std::memcpy(more.get(), text_.get(), size_);
        text_ = std::move(more);
    }

    std::unique_ptr<char[]> text_;
    std::size_t capacity_;
    std::size_t size_ = 0;
};

} // namespace mmioscope
