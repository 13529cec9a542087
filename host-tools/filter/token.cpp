#include "filter/token.hpp"

#include "filter/complaint.hpp"

#include <array>

namespace mmioscope::filter {

namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Characters of names, numbers, paths, globs and UTF-8.
bool is_word(char c) {
    constexpr std::string_view others = "_@./*?:[]-";
    const auto byte = static_cast<unsigned char>(c);
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           byte >= 0x80 || others.find(c) != std::string_view::npos;
}

} // namespace

Token Lexer::next() {
    Token token = take();
    compared_ = token.kind == Token::Kind::sign && (token.text == "==" || token.text == "!=");
    return token;
}

Token Lexer::take() {
    while (at_ < text_.size() && is_space(text_[at_])) {
        ++at_;
    }
    if (at_ == text_.size()) {
        return {Token::Kind::end, "", at_, at_};
    }
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
        return quoted(at_);
    }
    return is_word(c) && !text_.substr(at_).starts_with("..") ? word(at_) : sign(at_);
}

// Two dots end a word, because they separate the ends of a range. After a comparison operator there
// is no list, so a comma belongs to a name, as in "arm,pl180".
bool Lexer::goes_on() const {
    const std::string_view rest = text_.substr(at_);
    const bool comma = compared_ && rest.size() > 1 && rest[0] == ',' && is_word(rest[1]);
    return !rest.empty() && (is_word(rest[0]) || comma) && !rest.starts_with("..");
}

Token Lexer::word(std::size_t begin) {
    while (goes_on()) {
        ++at_;
    }
    return {Token::Kind::word, std::string(text_.substr(begin, at_ - begin)), begin, at_};
}

// A quote inside is doubled. A backslash is literal, so regular expressions stay readable.
Token Lexer::quoted(std::size_t begin) {
    const char quote = text_[begin];
    std::string inside;
    for (++at_; at_ < text_.size(); ++at_) {
        if (text_[at_] == quote) {
            if (at_ + 1 == text_.size() || text_[at_ + 1] != quote) {
                return {Token::Kind::quoted, inside, begin, ++at_};
            }
            ++at_;
        }
        inside += text_[at_];
    }
    throw complaint(subject_, text_, begin, "this quote is not closed");
}

Token Lexer::sign(std::size_t begin) {
    static constexpr std::array<std::string_view, 18> signs = {"==", "!=", "<=", ">=", "=~", "!~",
                                                               "&&", "||", "..", "<",  ">",  "!",
                                                               "&",  "(",  ")",  ",",  "=",  "|"};
    for (const std::string_view sign : signs) {
        if (text_.substr(begin).starts_with(sign)) {
            at_ += sign.size();
            return {Token::Kind::sign, std::string(sign), begin, at_};
        }
    }
    throw complaint(subject_, text_, begin, "put this character in quotes");
}

} // namespace mmioscope::filter
