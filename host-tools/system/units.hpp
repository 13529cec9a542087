// Parses sizes, addresses and durations as users write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mmioscope {

/// All of `text` as a decimal or 0x number; nothing if it is neither or does not fit 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// A number, optionally followed by K, M or G (1024, 1024^2, 1024^3).
std::optional<std::uint64_t> parse_size(std::string_view text);

/// "1.5", "1.5s", "20ms", "3us", "7ns", "2m", "1h" in nanoseconds; nothing for other texts.
std::optional<std::uint64_t> parse_duration(std::string_view text);

// Suggestions for mistyped words.

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
