// The right side of a comparison: `== 3`, `in (1, 4..7)`, `not in (a, b*)`.
#pragma once

#include "filter/expression.hpp"
#include "filter/token_stream.hpp"

namespace mmioscope::filter {

/// What a number is compared with.
struct NumberComparison {
    Ranges ranges;
    std::vector<Pattern> names; ///< words that are no numbers, where they are allowed
    bool negated = false;
};

/// How the words behind it are read.
struct NumberSyntax {
    NumberField::Unit unit = NumberField::Unit::none;
    std::span<const NumberField::Word> words = {};
    bool names = false; ///< other words are names of values
};

/// Nothing behind a number asks whether it is other than 0.
NumberComparison number_comparison(TokenStream& tokens, const NumberSyntax& syntax);

/// What a text is compared with; nothing behind it asks whether there is one.
struct TextComparison {
    std::vector<Pattern> patterns;
    bool negated = false;
};
TextComparison text_comparison(TokenStream& tokens, const TextField& field);

/// A glob, or a text in quotes as it is.
Pattern pattern_of(const Token& token, bool folded);

} // namespace mmioscope::filter
