// The tokens of a filter, one ahead.
#pragma once

#include "filter/token.hpp"
#include "system/error.hpp"

namespace mmioscope::filter {

class TokenStream {
public:
    /// `subject` is what `text` is, for complaints; both outlive this.
    TokenStream(std::string_view subject, std::string_view text)
        : subject_(subject), text_(text), lexer_(subject, text), ahead_(lexer_.next()) {}

    /// The token that comes next.
    const Token& peek() const { return ahead_; }
    bool at_end() const { return ahead_.kind == Token::Kind::end; }

    Token take() {
        last_ = ahead_;
        ahead_ = lexer_.next();
        return last_;
    }

    /// Takes the next token if it is this one.
    bool take_sign(std::string_view sign) { return take_if(Token::Kind::sign, sign); }
    bool take_word(std::string_view word) { return take_if(Token::Kind::word, word); }

    /// Throws unless the next token is `sign`.
    void need_sign(std::string_view sign) {
        if (!take_sign(sign)) {
            throw complaint_here(fmt::format("expected '{}'", sign));
        }
    }

    /// A word or quoted text; throws "expected WHAT behind LAST" if there is none.
    Token need_text(std::string_view what);

    /// What is wrong with the next token, or the one given.
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
