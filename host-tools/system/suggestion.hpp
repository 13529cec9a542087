// Suggestions for mistyped words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mmioscope {

/// Finds the name that is closest to a word, of names that come one by one.
class Suggestion {
public:
    /// `word` outlives this.
    explicit Suggestion(std::string_view word);

    void add(std::string_view name);
    /// ", did you mean 'value'?"; empty if no name is close.
    std::string text() const;

private:
    std::string_view word_;
    std::size_t least_;
    std::string nearest_;
};

/// ", did you mean 'value'?" with the one of `names` that is closest to `word`; empty if none is
/// close.
template <typename Names>
std::string suggestion(std::string_view word, const Names& names) {
    Suggestion nearest(word);
    for (const std::string_view name : names) {
        nearest.add(name);
    }
    return nearest.text();
}

} // namespace mmioscope
