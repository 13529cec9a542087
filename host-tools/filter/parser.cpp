#include "filter/parser.hpp"

#include "system/units.hpp"

#include <algorithm>

namespace mmioscope::filter {

namespace {

// The right side of a comparison: `== 3`, `in (1, 4..7)`, `not in (a, b*)`.

/// What to compare a number with.
struct NumberComparison {
    Ranges ranges;
    std::vector<Pattern> names; ///< words that are not numbers, where allowed
    bool negated = false;
};

/// How to read the words of the comparison.
struct NumberSyntax {
    EventField::Unit unit = EventField::Unit::decimal;
    std::span<const EventField::Word> words = {};
    bool names = false; ///< other words are names of values
};

/// What to compare a text with. Without a comparison: whether there is a text.
struct TextComparison {
    std::vector<Pattern> patterns;
    bool negated = false;
};

Node negated_if(bool negated, Test test) {
    Node node{Node::Kind::test, {}, std::move(test)};
    if (!negated) {
        return node;
    }
    std::vector<Node> children;
    children.push_back(std::move(node));
    return {Node::Kind::none_of, std::move(children), std::nullopt};
}

std::string unknown_field(const std::string& word) {
    std::vector<std::string_view> names;
    for (const EventField& field : fields) {
        names.insert(names.end(), field.words.begin(), field.words.end());
    }
    return fmt::format("there is no field '{}'{}", word, suggestion(word, names));
}

/// A glob, or a quoted text taken literally.
Pattern pattern_of(const Token& token, bool folded) {
    const auto fold = folded ? Pattern::Case::folded : Pattern::Case::exact;
    return token.kind == Token::Kind::quoted ? Pattern::literal(token.text, fold)
                                             : Pattern::glob(token.text, fold);
}

constexpr std::uint64_t most = UINT64_MAX;

std::optional<std::uint64_t> word_value(const std::string& word, const NumberSyntax& syntax) {
    const auto named = std::find_if(syntax.words.begin(), syntax.words.end(),
                                    [&word](const auto& one) { return one.word == word; });
    if (named != syntax.words.end()) {
        return named->value;
    }
    return syntax.unit == EventField::Unit::time ? parse_time(word) : parse_count(word);
}

std::string no_value(const std::string& word, const NumberSyntax& syntax) {
    if (syntax.unit == EventField::Unit::time) {
        return fmt::format("'{}' is not a time such as 1.5, 20ms, 3us or 7ns", word);
    }
    std::vector<std::string_view> words;
    for (const EventField::Word& one : syntax.words) {
        words.push_back(one.word);
    }
    return words.empty()
               ? fmt::format("'{}' is not a 64-bit number", word)
               : fmt::format("'{}' is not a value of this field{}", word, suggestion(word, words));
}

std::uint64_t value_of(TokenStream& tokens, const Token& token, const NumberSyntax& syntax) {
    const auto value =
        token.kind == Token::Kind::word ? word_value(token.text, syntax) : std::nullopt;
    if (!value) {
        throw tokens.complaint_at(token, no_value(token.text, syntax));
    }
    return *value;
}

void take_item(TokenStream& tokens, const NumberSyntax& syntax, NumberComparison& to) {
    const Token first = tokens.need_text("a value");
    if (syntax.names && (first.kind == Token::Kind::quoted || !word_value(first.text, syntax))) {
        to.names.push_back(pattern_of(first, true));
        return;
    }
    Range range;
    range.first = range.last = value_of(tokens, first, syntax);
    if (tokens.accept_sign("..")) {
        range.last = value_of(tokens, tokens.need_text("a value"), syntax);
    }
    if (range.last < range.first) {
        throw tokens.complaint_at(first, "this range ends before it begins");
    }
    to.ranges.push_back(range);
}

template <typename Item>
void take_list(TokenStream& tokens, const Item& take_one) {
    if (!tokens.accept_sign("(")) {
        take_one();
        return;
    }
    do {
        take_one();
    } while (tokens.accept_sign(","));
    tokens.need_sign(")");
}

/// "in" or "not in": true for the latter, nothing for neither.
std::optional<bool> take_in(TokenStream& tokens) {
    if (tokens.accept_word("in")) {
        return false;
    }
    if (!tokens.accept_word("not")) {
        return std::nullopt;
    }
    if (!tokens.accept_word("in")) {
        throw tokens.complaint_here("expected 'in' after 'not'");
    }
    return true;
}

Ranges below(std::uint64_t value) {
    return value == 0 ? Ranges{} : Ranges{{0, value - 1}};
}
Ranges above(std::uint64_t value) {
    return value == most ? Ranges{} : Ranges{{value + 1, most}};
}

bool is_comparison(const Token& token) {
    static constexpr std::string_view all[] = {"==", "!=", "<", "<=", ">", ">=", "=~", "!~", "="};
    return token.kind == Token::Kind::sign &&
           std::find(std::begin(all), std::end(all), token.text) != std::end(all);
}

// After ==, !=, <, <=, > or >=.
NumberComparison compared(TokenStream& tokens, const Token& sign, const NumberSyntax& syntax) {
    NumberComparison result;
    if (sign.text == "==" || sign.text == "!=") {
        take_item(tokens, syntax, result);
        result.negated = sign.text == "!=";
        return result;
    }
    const std::uint64_t value = value_of(tokens, tokens.need_text("a value"), syntax);
    if (sign.text == "<") {
        result.ranges = below(value);
    } else if (sign.text == ">") {
        result.ranges = above(value);
    } else {
        result.ranges = {sign.text == "<=" ? Range{0, value} : Range{value, most}};
    }
    return result;
}

Pattern regex_of(TokenStream& tokens, const EventField& field) {
    const Token text = tokens.need_text("a regular expression");
    const auto fold = field.folded ? Pattern::Case::folded : Pattern::Case::exact;
    try {
        return Pattern::regex(text.text, fold);
    } catch (const Error& error) {
        throw tokens.complaint_at(text, error.what());
    }
}

/// A number without a comparison is compared with "not 0".
NumberComparison number_comparison(TokenStream& tokens, const NumberSyntax& syntax) {
    NumberComparison result;
    if (is_comparison(tokens.peek())) {
        const Token sign = tokens.next();
        if (sign.text == "=") {
            throw tokens.complaint_at(sign, "use '==' to compare");
        }
        if (sign.text == "=~" || sign.text == "!~") {
            throw tokens.complaint_at(sign, "regular expressions are for texts, this is a number");
        }
        return compared(tokens, sign, syntax);
    }
    if (const std::optional<bool> negated = take_in(tokens)) {
        take_list(tokens, [&] { take_item(tokens, syntax, result); });
        result.negated = *negated;
        return result;
    }
    result.ranges = {{1, most}};
    return result;
}

TextComparison text_comparison(TokenStream& tokens, const EventField& field) {
    TextComparison result;
    const auto take_pattern = [&] {
        result.patterns.push_back(pattern_of(tokens.need_text("a value"), field.folded));
    };
    if (is_comparison(tokens.peek())) {
        const Token sign = tokens.next();
        result.negated = sign.text.starts_with('!');
        if (sign.text == "==" || sign.text == "!=") {
            take_pattern();
        } else if (sign.text == "=~" || sign.text == "!~") {
            result.patterns.push_back(regex_of(tokens, field));
        } else {
            throw tokens.complaint_at(
                sign,
                fmt::format("'{}' is a text; compare it with ==, !=, =~, !~ or in", field.word()));
        }
    } else if (const std::optional<bool> negated = take_in(tokens)) {
        take_list(tokens, take_pattern);
        result.negated = *negated;
    } else {
        result.patterns.push_back(Pattern::glob("*", Pattern::Case::exact));
    }
    return result;
}

class Parser {
public:
    Parser(std::string_view text, const Settings& settings)
        : settings_(settings), tokens_("filter", text) {}

    Node whole() {
        Node node = several(Node::Kind::any_of, 0);
        if (!tokens_.at_end()) {
            throw tokens_.complaint_here("expected && or ||");
        }
        return node;
    }

private:
    // A single child replaces the node. any_of and all_of differ only in the operator between
    // children.
    Node several(Node::Kind kind, unsigned depth) {
        const bool is_any = kind == Node::Kind::any_of;
        std::vector<Node> children;
        do {
            children.push_back(is_any ? several(Node::Kind::all_of, depth) : one(depth));
        } while (is_any ? tokens_.accept_sign("||") || tokens_.accept_word("or")
                        : tokens_.accept_sign("&&") || tokens_.accept_word("and"));
        if (children.size() == 1) {
            return std::move(children.front());
        }
        return {kind, std::move(children), std::nullopt};
    }

    Node one(unsigned depth) {
        if (depth >= settings_.most_depth) {
            throw tokens_.complaint_here("more than 100 nested parentheses");
        }
        if (tokens_.accept_sign("!") || tokens_.accept_word("not")) {
            std::vector<Node> children;
            children.push_back(one(depth + 1));
            return {Node::Kind::none_of, std::move(children), std::nullopt};
        }
        if (tokens_.accept_sign("(")) {
            Node inside = several(Node::Kind::any_of, depth + 1);
            tokens_.need_sign(")");
            return inside;
        }
        return condition();
    }

    Node condition() {
        const Token what = tokens_.need_text("a condition");
        if (what.kind == Token::Kind::word) {
            if (what.text.size() > 1 && what.text.starts_with('@')) {
                return custom(what);
            }
            if (const EventField* field = field_named(what.text)) {
                if (field->code && !settings_.code) {
                    throw tokens_.complaint_at(
                        what,
                        fmt::format("'{}' is about code, which --no-pc leaves out", what.text));
                }
                return field->any != nullptr ? text(*field) : number(*field);
            }
            if (what.text == "field" && tokens_.accept_sign("(")) {
                return bits_by_call();
            }
            const std::size_t point = what.text.find('.');
            if (point != std::string::npos && point > 0 && point + 1 < what.text.size()) {
                return bits(Pattern::glob(what.text.substr(0, point), Pattern::Case::folded),
                            Pattern::glob(what.text.substr(point + 1), Pattern::Case::folded));
            }
        }
        throw tokens_.complaint_at(what, unknown_field(what.text));
    }

    Node number(const EventField& field) {
        const std::optional<std::uint64_t> bits = mask();
        NumberComparison compared = number_comparison(tokens_, {field.unit, field.values});
        return negated_if(compared.negated, NumberTest{&field, bits, std::move(compared.ranges)});
    }

    Node text(const EventField& field) {
        if (tokens_.peek().kind == Token::Kind::sign && tokens_.peek().text == "&") {
            throw tokens_.complaint_here(
                fmt::format("'{}' is a text, and has no bits", field.word()));
        }
        TextComparison compared = text_comparison(tokens_, field);
        return negated_if(compared.negated, TextTest{&field, std::move(compared.patterns)});
    }

    Node bits(std::optional<Pattern> reg, Pattern field) {
        const std::optional<std::uint64_t> bits = mask();
        NumberComparison compared =
            number_comparison(tokens_, {EventField::Unit::decimal, {}, /*names=*/true});
        return negated_if(compared.negated,
                          BitsTest{std::move(reg), std::move(field), bits,
                                   std::move(compared.ranges), std::move(compared.names)});
    }

    Node bits_by_call() {
        Pattern field = pattern_of(tokens_.need_text("the name of a field"), true);
        std::optional<Pattern> reg;
        if (tokens_.accept_sign(",")) {
            reg = field;
            field = pattern_of(tokens_.need_text("the name of a field"), true);
        }
        tokens_.need_sign(")");
        return bits(std::move(reg), std::move(field));
    }

    Node custom(const Token& name) {
        const Call call{name.text.substr(1), parse_options(tokens_)};
        if (!settings_.custom) {
            throw tokens_.complaint_at(
                name, "names with @ are filters of plug-ins, and no plug-in is loaded (--plugin)");
        }
        try {
            return {Node::Kind::test, {}, CustomTest{settings_.custom(call.name, call.options)}};
        } catch (const Error& error) {
            throw tokens_.complaint_at(name, error.what());
        }
    }

    std::optional<std::uint64_t> mask() {
        if (!tokens_.accept_sign("&")) {
            return std::nullopt;
        }
        const Token token = tokens_.need_text("a number");
        const auto bits = token.kind == Token::Kind::word ? parse_count(token.text) : std::nullopt;
        if (!bits) {
            throw tokens_.complaint_at(token,
                                       fmt::format("'{}' is not a 64-bit number", token.text));
        }
        return bits;
    }

    const Settings& settings_;
    TokenStream tokens_;
};

} // namespace

Node parse(std::string_view text, const Settings& settings) {
    constexpr std::size_t longest = 64 * 1024;
    if (text.size() > longest) {
        throw bad_input("filter: longer than {} characters", longest);
    }
    return Parser(text, settings).whole();
}

} // namespace mmioscope::filter
