#include "filter/tokens.hpp"

#include "system/escape.hpp"
#include "system/units.hpp"

#include <array>
#include <charconv>

namespace mmioscope::filter {

namespace {

constexpr std::size_t shown = 24; ///< characters on each side of the place

} // namespace

Error complaint(std::string_view subject, std::string_view text, std::size_t at,
                std::string_view what) {
    const std::size_t from = at > shown ? at - shown : 0;
    const std::string before = printable(text.substr(from, at - from));
    const std::string behind = printable(text.substr(at, shown));
    return bad_input("{}: column {}: {}: {}{}<here>{}{}", subject, at + 1, printable(what),
                     from > 0 ? "..." : "", before, behind, at + shown < text.size() ? "..." : "");
}

namespace {

// Removes the unit from `text`. Returns its length in nanoseconds.
std::uint64_t take_unit(std::string_view& text) {
    struct Unit {
        std::string_view name;
        std::uint64_t nanoseconds;
    };
    static constexpr Unit units[] = {
        {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
    for (const Unit& unit : units) {
        if (text.ends_with(unit.name)) {
            text.remove_suffix(unit.name.size());
            return unit.nanoseconds;
        }
    }
    return 1'000'000'000;
}

bool all_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

} // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) {
    if (!text.starts_with("0b")) {
        return parse_size(text);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 2);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

std::optional<std::uint64_t> parse_time(std::string_view text) {
    const std::uint64_t unit = take_unit(text);
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view part =
        point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
    const std::optional<std::uint64_t> number = parse_number(whole);
    if (!number || !all_digits(whole) || !all_digits(part) || text.ends_with('.') ||
        *number > UINT64_MAX / unit) {
        return std::nullopt;
    }
    std::uint64_t time = *number * unit;
    std::uint64_t digit = unit; // of the current place
    for (const char c : part) {
        digit /= 10;
        if (__builtin_add_overflow(time, digit * static_cast<unsigned>(c - '0'), &time)) {
            return std::nullopt;
        }
    }
    return time;
}

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
    Token token = scan();
    compared_ = token.kind == Token::Kind::sign && (token.text == "==" || token.text == "!=");
    return token;
}

Token Lexer::scan() {
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

Token TokenStream::need_text(std::string_view what) {
    if (ahead_.kind != Token::Kind::word && ahead_.kind != Token::Kind::quoted) {
        throw complaint_here(last_.text.empty()
                                 ? fmt::format("expected {}", what)
                                 : fmt::format("expected {} after '{}'", what, last_.text));
    }
    return next();
}

Error TokenStream::complaint_at(const Token& token, std::string_view what) const {
    return complaint(subject_, text_, token.column, what);
}

CallOptions parse_options(TokenStream& tokens) {
    CallOptions options;
    if (!tokens.accept_sign("(") || tokens.accept_sign(")")) {
        return options;
    }
    do {
        const Token key = tokens.need_text("an option");
        tokens.need_sign("=");
        if (!options.emplace(key.text, tokens.need_text("a value").text).second) {
            throw tokens.complaint_at(key, fmt::format("'{}' is given twice", key.text));
        }
    } while (tokens.accept_sign(","));
    tokens.need_sign(")");
    return options;
}

Call parse_call(std::string_view subject, std::string_view text) {
    TokenStream tokens(subject, text);
    Call call;
    call.name = tokens.need_text("a name").text;
    call.options = parse_options(tokens);
    if (!tokens.at_end()) {
        throw tokens.complaint_here("expected nothing more");
    }
    return call;
}

} // namespace mmioscope::filter
