#include "filter/condition.hpp"

#include "filter/call.hpp"
#include "filter/comparison.hpp"
#include "filter/complaint.hpp"
#include "filter/literal.hpp"
#include "system/suggestion.hpp"

namespace mmioscope::filter {

namespace {

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
    for (const NumberField& field : number_fields()) {
        names.push_back(field.name);
    }
    for (const TextField& field : text_fields()) {
        names.push_back(field.name);
    }
    for (const Synonym& synonym : synonyms()) {
        names.push_back(synonym.name);
    }
    return fmt::format("there is no field '{}'{}", word, suggestion(word, names));
}

} // namespace

Node Condition::parse() {
    const Token what = tokens_.need_text("a condition");
    if (what.kind == Token::Kind::word) {
        if (what.text.size() > 1 && what.text.starts_with('@')) {
            return custom(what);
        }
        if (const NumberField* field = number_field(what.text)) {
            check_code(what, field->code);
            return number(*field);
        }
        if (const TextField* field = text_field(what.text)) {
            check_code(what, field->code);
            return text(*field);
        }
        if (what.text == "field" && tokens_.take_sign("(")) {
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

Node Condition::number(const NumberField& field) {
    const std::optional<std::uint64_t> bits = mask();
    NumberComparison compared = number_comparison(tokens_, {field.unit, field.words});
    return negated_if(compared.negated, NumberTest{&field, bits, std::move(compared.ranges)});
}

Node Condition::text(const TextField& field) {
    if (tokens_.peek().kind == Token::Kind::sign && tokens_.peek().text == "&") {
        throw tokens_.complaint_here(fmt::format("'{}' is a text, and has no bits", field.name));
    }
    TextComparison compared = text_comparison(tokens_, field);
    return negated_if(compared.negated, TextTest{&field, std::move(compared.patterns)});
}

Node Condition::bits(std::optional<Pattern> reg, Pattern field) {
    const std::optional<std::uint64_t> bits = mask();
    NumberComparison compared =
        number_comparison(tokens_, {NumberField::Unit::none, {}, /*names=*/true});
    return negated_if(compared.negated,
                      BitsTest{std::move(reg), std::move(field), bits, std::move(compared.ranges),
                               std::move(compared.names)});
}

Node Condition::bits_by_call() {
    Pattern field = pattern_of(tokens_.need_text("the name of a field"), true);
    std::optional<Pattern> reg;
    if (tokens_.take_sign(",")) {
        reg = field;
        field = pattern_of(tokens_.need_text("the name of a field"), true);
    }
    tokens_.need_sign(")");
    return bits(std::move(reg), std::move(field));
}

Node Condition::custom(const Token& name) {
    const Call call{name.text.substr(1), take_options(tokens_)};
    if (!settings_.custom) {
        throw tokens_.complaint_at(
            name, "names with @ are filters of plug-ins, and no plug-in is loaded (--plugin)");
    }
    try {
        CustomTest test{"@" + filter::written(call), settings_.custom(call.name, call.options)};
        return {Node::Kind::test, {}, std::move(test)};
    } catch (const Error& error) {
        throw tokens_.complaint_at(name, error.what());
    }
}

void Condition::check_code(const Token& token, bool code) const {
    if (code && !settings_.code) {
        throw tokens_.complaint_at(
            token, fmt::format("'{}' is about code, which --no-pc leaves out", token.text));
    }
}

std::optional<std::uint64_t> Condition::mask() {
    if (!tokens_.take_sign("&")) {
        return std::nullopt;
    }
    const Token token = tokens_.need_text("a number");
    const auto bits = token.kind == Token::Kind::word ? parse_count(token.text) : std::nullopt;
    if (!bits) {
        throw tokens_.complaint_at(token, fmt::format("'{}' is not a 64-bit number", token.text));
    }
    return bits;
}

} // namespace mmioscope::filter
