#include "system/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mmioscope {

namespace {

// Levenshtein distance, row by row.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return row.back();
}

} // namespace

Suggestion::Suggestion(std::string_view word)
    : word_(word), least_(std::min<std::size_t>(word.size() / 3 + 1, 3)) {}

void Suggestion::add(std::string_view name) {
    constexpr std::size_t longest = 32; ///< nobody mistypes longer words
    const std::size_t longer = std::max(word_.size(), name.size());
    constexpr std::size_t least_start = 3; ///< a shorter start fits too many names
    const bool starts = word_.size() >= least_start && name.starts_with(word_);
    if (word_.size() > longest ||
        (!starts && longer - std::min(word_.size(), name.size()) > least_)) {
        return;
    }
    const std::size_t away = starts ? 1 : distance(word_, name);
    if (away <= least_ && (away < least_ || nearest_.empty()) && away < name.size()) {
        least_ = away;
        nearest_ = name;
    }
}

std::string Suggestion::text() const {
    return nearest_.empty() ? "" : fmt::format(", did you mean '{}'?", nearest_);
}

} // namespace mmioscope
