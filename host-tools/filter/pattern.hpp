// The pattern that a text is compared with: a literal, a glob or a regular expression.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace mmioscope::filter {

class Pattern {
public:
    /// Whether upper and lower case differ.
    enum class Case { exact, folded };

    /// Matches exactly `text`.
    static Pattern literal(std::string text, Case fold);
    /// "*" matches any characters, "?" one character.
    static Pattern glob(std::string text, Case fold);
    /// A regular expression of RE2, found anywhere in the text, in time linear in the text's
    /// length. Throws Error (bad_input) with the reason if it is invalid.
    static Pattern regex(std::string text, Case fold);

    bool matches(std::string_view text) const;

    const std::string& text() const { return text_; } ///< as given, for any kind
    bool is_regex() const { return regex_ != nullptr; }

private:
    Pattern(std::string text, Case fold) : text_(std::move(text)), fold_(fold) {}

    std::string text_;
    Case fold_;
    bool glob_ = false;
    std::shared_ptr<const re2::RE2> regex_;
};

using Patterns = std::vector<Pattern>;

/// Whether `text` matches one of them.
inline bool any_matches(const Patterns& patterns, std::string_view text) {
    return std::ranges::any_of(patterns,
                               [text](const Pattern& pattern) { return pattern.matches(text); });
}

} // namespace mmioscope::filter
