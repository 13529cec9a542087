// The tokens of a filter, with one token of look-ahead.
#pragma once

#include "filter/token.hpp"
#include "system/error.hpp"

namespace mmioscope::filter {

class TokenStream {
public:
    /// `subject` is the name of `text` in messages; both outlive this.
    TokenStream(std::string_view subject, std::string_view text)
        : subject_(subject), text_(text), lexer_(subject, text), ahead_(lexer_.next()) {}

    /// The next token.
    const Token& peek() const { return ahead_; }
    bool at_end() const { return ahead_.kind == Token::Kind::end; }

    Token take() {
        last_ = ahead_;
        ahead_ = lexer_.next();
        return last_;
    }

    /// Takes the next token if it is `sign`.
    bool take_sign(std::string_view sign) { return take_if(Token::Kind::sign, sign); }
    bool take_word(std::string_view word) { return take_if(Token::Kind::word, word); }

    /// Throws unless the next token is `sign`.
    void need_sign(std::string_view sign) {
        if (!take_sign(sign)) {
            throw complaint_here(fmt::format("expected '{}'", sign));
        }
    }

    /// Takes a word or quoted text. Throws "expected WHAT after LAST" if there is none.
    Token need_text(std::string_view what);

    /// An error about the next token, or the given one.
    Error complaint_here(std::string_view what) const { return complaint_at(ahead_, what); }
    Error complaint_at(const Token& token, std::string_view what) const;

private:
    bool take_if(Token::Kind kind, std::string_view text) {
        const bool is = ahead_.kind == kind && ahead_.text == text;
        if (is) {
            take();
        }
        return is;
    }

    std::string_view subject_;
    std::string_view text_;
    Lexer lexer_;
    Token ahead_;
    Token last_;
};

} // namespace mmioscope::filter
