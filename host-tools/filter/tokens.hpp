// The text of a filter: numbers, tokens, and error messages with a position in it.
#pragma once

#include "system/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mmioscope::filter {

/// "SUBJECT: column 12: WHAT: ...reg==<here> && w", always one line. `at` counts from 0, columns
/// from 1.
Error complaint(std::string_view subject, std::string_view text, std::size_t at,
                std::string_view what);

// Numbers and times as users write them.

/// 12, 0x1f, 0b101, 64K, 1M, 1G; nothing if `text` is none of these or does not fit 64 bits.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// Nanoseconds from 1.5, 1.5s, 200ms, 10us or 3ns; without a unit, seconds. Truncates to whole
/// nanoseconds.
std::optional<std::uint64_t> parse_time(std::string_view text);

// The words and signs of a filter.

struct Token {
    enum class Kind { word, quoted, sign, end };

    Kind kind = Kind::end;
    std::string text;       ///< for a quoted text, without the quotes
    std::size_t column = 0; ///< of its first character, from 0
    std::size_t end = 0;    ///< column after its last character
};

/// Splits a text into tokens. Throws Error (bad_input) where it cannot.
class Lexer {
public:
    /// `subject` is the name of `text` in messages; both outlive this.
    Lexer(std::string_view subject, std::string_view text) : subject_(subject), text_(text) {}

    Token next();

private:
    Token scan();
    bool goes_on() const;
    Token word(std::size_t begin);
    Token quoted(std::size_t begin);
    Token sign(std::size_t begin);

    std::string_view subject_;
    std::string_view text_;
    std::size_t at_ = 0;
    bool compared_ = false; ///< after == or !=
};

// The tokens of a filter, with one token of look-ahead.

class TokenStream {
public:
    /// `subject` is the name of `text` in messages; both outlive this.
    TokenStream(std::string_view subject, std::string_view text)
        : subject_(subject), text_(text), lexer_(subject, text), ahead_(lexer_.next()) {}

    /// The next token.
    const Token& peek() const { return ahead_; }
    bool at_end() const { return ahead_.kind == Token::Kind::end; }

    Token next() {
        last_ = ahead_;
        ahead_ = lexer_.next();
        return last_;
    }

    /// Takes the next token if it is `sign`.
    bool accept_sign(std::string_view sign) { return accept(Token::Kind::sign, sign); }
    bool accept_word(std::string_view word) { return accept(Token::Kind::word, word); }

    /// Throws unless the next token is `sign`.
    void need_sign(std::string_view sign) {
        if (!accept_sign(sign)) {
            throw complaint_here(fmt::format("expected '{}'", sign));
        }
    }

    /// Takes a word or quoted text. Throws "expected WHAT after LAST" if there is none.
    Token need_text(std::string_view what);

    /// An error about the next token, or the given one.
    Error complaint_here(std::string_view what) const { return complaint_at(ahead_, what); }
    Error complaint_at(const Token& token, std::string_view what) const;

private:
    bool accept(Token::Kind kind, std::string_view text) {
        const bool is = ahead_.kind == kind && ahead_.text == text;
        if (is) {
            next();
        }
        return is;
    }

    std::string_view subject_;
    std::string_view text_;
    Lexer lexer_;
    Token ahead_;
    Token last_;
};

// A name with options: `latency(device=mmc, bits=5)`.

using CallOptions = std::map<std::string, std::string>;

struct Call {
    std::string name;
    CallOptions options;
};

/// Parses all of `text`, which messages call `subject`. Throws Error (bad_input) with the place of
/// the error.
Call parse_call(std::string_view subject, std::string_view text);

/// Takes the options in parentheses after a name, if any.
CallOptions parse_options(TokenStream& tokens);

} // namespace mmioscope::filter
