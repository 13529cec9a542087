#include "system/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace mmioscope {

std::optional<std::uint64_t> parse_number(std::string_view text) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    constexpr std::string_view suffixes = "KMGkmg";
    unsigned shift = 0;
    if (!text.empty()) {
        const std::size_t suffix = suffixes.find(text.back());
        if (suffix != std::string_view::npos) {
            shift = 10 * (static_cast<unsigned>(suffix % 3) + 1);
            text.remove_suffix(1);
        }
    }
    const std::optional<std::uint64_t> number = parse_number(text);
    if (!number || *number > UINT64_MAX >> shift) {
        return std::nullopt;
    }
    return *number << shift;
}

std::optional<std::uint64_t> parse_duration(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, double>, 7> units = {
        {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"h", 3600e9}}};
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number) || number < 0) {
        return std::nullopt;
    }
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const auto& [name, factor] : units) {
        if (unit == name && number * factor < 9e18) {
            return static_cast<std::uint64_t>(std::llround(number * factor));
        }
    }
    return std::nullopt;
}

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
