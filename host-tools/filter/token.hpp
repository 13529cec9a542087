// The words and signs of a filter.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mmioscope::filter {

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
    Token take();
    bool goes_on() const;
    Token word(std::size_t begin);
    Token quoted(std::size_t begin);
    Token sign(std::size_t begin);

    std::string_view subject_;
    std::string_view text_;
    std::size_t at_ = 0;
    bool compared_ = false; ///< after == or !=
};

} // namespace mmioscope::filter
