// The pattern that a text is compared with: a literal, a glob or a regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace mmioscope::filter {

class Pattern {
public:
    /// Whether upper and lower case differ.
    enum class Case { exact, folded };

    /// `text` itself.
    static Pattern literal(std::string text, Case fold);
    /// "*" stands for any characters, "?" for one.
    static Pattern glob(std::string text, Case fold);
    /// RE2's regular expressions, found anywhere in the text: their time is linear in it, however
    /// they are written. Throws Error (bad_input) that says what is wrong.
    static Pattern regex(std::string text, Case fold);

    bool matches(std::string_view text) const;

    const std::string& text() const { return text_; } ///< as given, whatever it is
    bool is_regex() const { return regex_ != nullptr; }
    /// As a filter has it: a word, or in quotes.
    std::string written() const;

private:
    Pattern(std::string text, Case fold) : text_(std::move(text)), fold_(fold) {}

    std::string text_;
    Case fold_;
    bool glob_ = false;
    std::shared_ptr<const re2::RE2> regex_;
};

} // namespace mmioscope::filter
