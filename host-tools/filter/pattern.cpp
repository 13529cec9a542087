#include "filter/pattern.hpp"

#include "system/error.hpp"

#include <re2/re2.h>

#include <algorithm>

namespace mmioscope::filter {

namespace {

constexpr std::size_t longest_regex = 1024;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(char a, char b, Pattern::Case fold) {
    return fold == Pattern::Case::folded ? lower(a) == lower(b) : a == b;
}

bool equal(std::string_view a, std::string_view b, Pattern::Case fold) {
    return fold == Pattern::Case::exact
               ? a == b
               : a.size() == b.size() &&
                     std::equal(a.begin(), a.end(), b.begin(),
                                [](char x, char y) { return lower(x) == lower(y); });
}

// Backtracks only to the last star, so the time is bounded by the product of the lengths.
bool glob_matches(std::string_view glob, std::string_view text, Pattern::Case fold) {
    std::size_t at = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0; ///< where to continue if the last star takes one more character
    for (std::size_t i = 0; i < text.size();) {
        if (at < glob.size() && glob[at] == '*') {
            star = at++;
            resume = i;
        } else if (at < glob.size() && (glob[at] == '?' || same(glob[at], text[i], fold))) {
            ++at;
            ++i;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            i = ++resume;
        } else {
            return false;
        }
    }
    return glob.find_first_not_of('*', at) == std::string_view::npos;
}

} // namespace

Pattern Pattern::literal(std::string text, Case fold) {
    return {std::move(text), fold};
}

Pattern Pattern::glob(std::string text, Case fold) {
    Pattern pattern(std::move(text), fold);
    pattern.glob_ = pattern.text_.find_first_of("*?") != std::string::npos;
    return pattern;
}

Pattern Pattern::regex(std::string text, Case fold) {
    if (text.size() > longest_regex) {
        throw bad_input("a regular expression has at most {} characters", longest_regex);
    }
    RE2::Options options(RE2::Latin1); // names are bytes
    options.set_log_errors(false);
    options.set_max_mem(1 << 20);
    options.set_case_sensitive(fold == Case::exact);
    auto compiled = std::make_shared<RE2>(text, options);
    if (!compiled->ok()) {
        throw bad_input("{}", compiled->error());
    }
    Pattern pattern(std::move(text), fold);
    pattern.regex_ = std::move(compiled);
    return pattern;
}

bool Pattern::matches(std::string_view text) const {
    if (regex_) {
        return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex_);
    }
    return glob_ ? glob_matches(text_, text, fold_) : equal(text_, text, fold_);
}

} // namespace mmioscope::filter
