// The right side of a comparison: `== 3`, `in (1, 4..7)`, `not in (a, b*)`.
#pragma once

#include "filter/expression.hpp"
#include "filter/token_stream.hpp"

namespace mmioscope::filter {

/// What to compare a number with.
struct NumberComparison {
    Ranges ranges;
    std::vector<Pattern> names; ///< words that are not numbers, where allowed
    bool negated = false;
};

/// How to read the words of the comparison.
struct NumberSyntax {
    NumberField::Unit unit = NumberField::Unit::none;
    std::span<const NumberField::Word> words = {};
    bool names = false; ///< other words are names of values
};

/// A number without a comparison is compared with "not 0".
NumberComparison number_comparison(TokenStream& tokens, const NumberSyntax& syntax);

/// What to compare a text with. Without a comparison: whether there is a text.
struct TextComparison {
    std::vector<Pattern> patterns;
    bool negated = false;
};
TextComparison text_comparison(TokenStream& tokens, const TextField& field);

/// A glob, or a quoted text taken literally.
Pattern pattern_of(const Token& token, bool folded);

} // namespace mmioscope::filter
